"""A run checked: is it whole, do its numbers follow from what it kept, and do they come again."""
