"""RecBole's general recommenders behind repro's interface.

RecBole (Zhao et al. 2021, CIKM) 1.2.1 is trained on all training rows, without a validation or test part, for the
requested number of epochs; there is no early stopping, because it would need validation rows.
"""
