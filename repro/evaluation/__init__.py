"""From rows and scores to numbers: judge, list the candidates, rank, measure, average."""
