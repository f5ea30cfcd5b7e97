"""Models that are given in Python instead of by the name of a plug-in's algorithm.

A model that is fitted in each fold, a labelled model and a matrix of scores, in one study::

    class Popularity:
        def fit(self, train):                       # a pandas frame: user, item, rating, timestamp
            self.counts = train["item"].value_counts()

        def score(self, users, items):              # arrays of ids; returns users x items
            return np.tile(self.counts.reindex(items), (len(users), 1))

    repro.Study(ratings, "random-5fold", [Popularity(), ("mine", model), matrix], ["ndcg@10"]).run("run")

What may be given, each alone, as ``("label", model)`` or as ``{"model": model, "label": ..., "seed": ...}``:

model       an object with ``fit`` and ``score`` or ``predict``. ``fit(train)`` receives a pandas frame of the training
            rows, ``fit(X, y)`` the columns user and item and the ratings (as scikit-learn), and
            ``fit(users, items, ratings)`` these columns; a parameter ``seed`` or ``random_state`` receives the seed of
            the fit. A class is called without arguments first.
recommender an object with the interface of plug-ins, ``fit(train, *, seed)`` and ``score(queries, items)``
fitted      an object with ``score`` or ``predict`` and without ``fit``
function    ``function(users, items)``
matrix      scores of users x items: a pandas frame whose rows and columns are labelled with ids; an array, or a sparse
            matrix, whose rows and columns are the users and the items of the data in ascending order of ids (as numbers
            where all are whole numbers, otherwise as text), or those in ``{"model": matrix, "users": ..., "items":
            ...}``. NaN, an id that a frame lacks, and an entry that a sparse matrix does not store have no score; a
            stored 0 is a score.

Scores are asked for by the names of the parameters: ``score(users, items)`` returns an array of users x items,
``score(user, items)`` a score for each item, ``score(user, item)`` a number, and ``predict(X)`` a number for each row
of a frame with the columns user and item; ``predict(users, items)`` gets arrays of the same length, and returns one
number for each pair. A frame or series with labels is matched by ids. Models with ``predict`` predict ratings; others
do with ``"predicts": True``. Every fold starts from a copy of what was given to the study.
"""

from repro.models.loading import load_code
from repro.models.model import GivenModel, as_tables, read_model

__all__ = ["GivenModel", "as_tables", "load_code", "read_model"]
