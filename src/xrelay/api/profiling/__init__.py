"""Profiles of compiled models: measured runs, and their table, chart and trace."""
