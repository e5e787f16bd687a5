"""Layout passes: they choose the layouts of operators and place layout transforms."""
