"""Cornac (Salah, Truong & Lauw 2020, JMLR 21): its algorithms as they are, scored through their own ``score``.

A model is fitted on what Cornac itself would make of the training rows: inner ids in the order of first appearance,
the first of several rows of a pair, the rows in the order they come. Users and items without training rows are not
known to it, and get what Cornac gives them:

- ``score`` of an unknown item: the lowest score of the user's known items, as ``Recommender.rank`` has it (fallback);
- ``predict`` of one: ``default_score()``, the mean of the training ratings, as ``Recommender.rate`` has it (fallback);
- an unknown user: the default score for every item (fallback), but where the model has an answer of its own, such as
  popularity, or the item biases of matrix factorisation (scored);
- the models trained on pairs (BPR, WBPR, MMMF) know nothing of either: Cornac would read untrained random factors, or
  fail. These are unscored.

Predictions are those of ``rate`` without its clipping to the range of the training ratings.
"""
