"""Layouts, e.g. `NCHW16c`: how they are written, permuted and carried through changes of rank."""
