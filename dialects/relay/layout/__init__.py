"""Layouts such as `NCHW16c`: syntax, permutations, and changes of rank."""
