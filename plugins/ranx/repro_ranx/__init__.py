"""ranx behind the interface of evaluators."""
