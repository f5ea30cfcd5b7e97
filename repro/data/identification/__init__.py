"""Data sets, versions and filters by their numbers of users, items and rows."""

from repro.data.identification.identify import Identification, Match, identify
from repro.data.identification.sizes import Sizes

__all__ = ["Identification", "Match", "Sizes", "identify"]
