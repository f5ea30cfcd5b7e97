"""The commands, one file for each; files whose names begin with an underscore are parts of a command."""
