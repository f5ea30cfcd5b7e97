"""RecBole's general recommenders behind repro's interface.

RecBole (Zhao et al. 2021, CIKM) 1.2.1 learns from the training rows as one data set without validation or test
part, for the epochs asked for; there is no early stopping, since that would need rows that are not there.
"""
