"""Settings of the decisions that a source leaves open, and whether one of them explains printed numbers."""
