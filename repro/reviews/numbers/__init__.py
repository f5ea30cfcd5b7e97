"""Printed numbers: read from tables, checked by themselves, and searched for in the run files."""
