"""The operators, with one file for each family."""
