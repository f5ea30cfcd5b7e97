"""The search for parameters on the validation rows of a fold."""
