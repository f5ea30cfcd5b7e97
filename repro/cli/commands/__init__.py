"""The commands of `repro`, a file for each."""
