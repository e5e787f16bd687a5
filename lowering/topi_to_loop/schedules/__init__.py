"""Analytical schedules, one family a file: tiles follow from registers and caches of the target."""
