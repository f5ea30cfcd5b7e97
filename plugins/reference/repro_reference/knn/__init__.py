"""User-based and item-based nearest neighbours, with a parameter for each decision that toolkits take differently."""

from repro_reference.knn.recommenders import ItemKNN, NearestNeighbours, UserKNN, declarations

__all__ = ["ItemKNN", "NearestNeighbours", "UserKNN", "declarations"]
