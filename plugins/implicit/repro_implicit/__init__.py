"""implicit (Frederickson) behind the two interfaces of repro."""
