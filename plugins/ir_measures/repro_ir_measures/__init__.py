"""ir_measures behind the interface of evaluators."""
