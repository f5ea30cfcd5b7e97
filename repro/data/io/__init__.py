"""Reading tables from files: interactions, recommendations, held-out rows, negatives, features, per-user values."""
