"""The files of an artefact: what they are, how that was recognised, and their rows."""
