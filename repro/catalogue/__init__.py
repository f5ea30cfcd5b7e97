"""What there is: data frames of algorithms, data sets, decisions, metrics, plug-ins and protocols, and each metric."""

from repro.catalogue.listing import algorithms, datasets, decisions, metrics, plugins, protocol_groups, protocols
from repro.catalogue.metric import Metric

__all__ = ["Metric", "algorithms", "datasets", "decisions", "metrics", "plugins", "protocol_groups", "protocols"]
