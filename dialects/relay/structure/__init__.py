"""The language around the operators: constants, tuples, bindings, branches, functions and fused groups."""
