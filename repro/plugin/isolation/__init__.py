"""Frameworks in processes and environments of their own: environments, pins, workers and the wire between them."""
