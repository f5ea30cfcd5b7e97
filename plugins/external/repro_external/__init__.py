"""Systems that are no Python package: what they wrote to files, or what they write when they are run."""
