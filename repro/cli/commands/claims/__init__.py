"""Commands about published numbers."""
