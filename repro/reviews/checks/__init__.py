"""Checks of the data sets of an artefact; each gives findings that are recounted from the files."""
