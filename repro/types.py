"""Types that several packages share."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Receives the progress of a long computation: the name of the stage, the steps done, and all steps of the stage."""
