"""The algorithms of RecPack that learn from users and items alone.

RecPack gets the training rows as a binary matrix of the users and items that have rows; it does not use ratings. It
predicts a sparse matrix and ranks its stored entries; a score of exactly 0 is not stored. So a pair is *scored* where
RecPack's own prediction has an entry, whatever its sign, and *unscored* where it has none: no neighbours, no common
factor, or a user or item without training rows.

RecPack's algorithms that need the order of interactions (Prod2Vec, GRU4Rec, STAN, SequentialRules, TARSItemKNN) are
not included.
"""
