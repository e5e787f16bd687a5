"""Layout passes: choose the layouts of operators and insert layout transforms."""
