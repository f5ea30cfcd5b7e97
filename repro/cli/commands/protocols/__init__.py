"""Commands about protocols and what their decisions change."""
