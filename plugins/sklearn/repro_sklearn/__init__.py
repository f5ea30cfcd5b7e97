"""scikit-learn's metrics behind the interface of evaluators."""
