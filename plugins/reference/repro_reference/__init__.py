"""Reference algorithms: each in one file, written after the paper that it cites.

All of them keep three rules. The same training rows and seed give the same bits, in any order of the rows. A score does
not depend on the other users and items in the same call. And a pair without information (an item without training
rows; for personalised methods, a user without training rows) is *unscored* and never gets a fallback score.
"""
