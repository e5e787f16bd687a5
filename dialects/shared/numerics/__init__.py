"""Functions on numpy arrays that the evaluators of several levels share: powers, rounding, sorting, random bits."""
