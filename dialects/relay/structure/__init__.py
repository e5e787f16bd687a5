"""The ops that structure a program: constants, tuples, bindings, branches, functions and fused groups."""
