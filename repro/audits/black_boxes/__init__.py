"""Black boxes: evaluators of plug-ins and Python functions, asked in one way."""
