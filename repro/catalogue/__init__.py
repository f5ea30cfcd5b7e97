"""Data frames of all algorithms, data sets, decisions, metrics, plug-ins and protocols; details of a metric."""

from repro.catalogue.listing import algorithms, datasets, decisions, metrics, plugins, protocol_groups, protocols
from repro.catalogue.metric import Metric

__all__ = ["Metric", "algorithms", "datasets", "decisions", "metrics", "plugins", "protocol_groups", "protocols"]
