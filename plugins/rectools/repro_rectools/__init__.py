"""RecTools (MTS) behind the two interfaces of repro."""
