"""Cornac (Salah, Truong & Lauw 2020, JMLR 21): its unchanged algorithms, with the scores of their own ``score``.

A model is fitted to the training rows as Cornac itself would read them: inner ids in the order of first appearance,
the first of several rows of a pair, the rows in their order. Users and items without training rows are unknown to it,
and get what Cornac gives them:

- ``score`` of an unknown item: the lowest score of the user's known items, as ``Recommender.rank`` has it (fallback);
- ``predict`` of one: ``default_score()``, the mean of the training ratings, as ``Recommender.rate`` has it (fallback);
- an unknown user: the default score for every item (fallback), unless the model has scores of its own, such as
  popularity, or the item biases of matrix factorisation (scored);
- the models trained on pairs (BPR, WBPR, MMMF): Cornac would read untrained random factors, or fail. Unknown users and
  items are unscored.

Predictions are those of ``rate`` without its clipping to the range of the training ratings.
"""
