"""Printed numbers that no computation can give: out of range, contradictory, between steps, or out of reach."""
