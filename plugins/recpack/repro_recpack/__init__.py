"""The algorithms of RecPack that learn from users and items alone.

RecPack is given the training rows as a binary matrix of the users and items that have any; ratings play no part. It
predicts a sparse matrix, and ranks what is stored there: an entry that is not stored, which is every score of exactly
0, does not exist for it. So a pair is *scored* where RecPack's own prediction has an entry, whatever its sign, and
*unscored* where it has none: no neighbours, no common factor, or a user or item without training rows.

RecPack's algorithms that need the order of interactions (Prod2Vec, GRU4Rec, STAN, SequentialRules, TARSItemKNN) are
not among these.
"""
