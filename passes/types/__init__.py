"""Type inference of relay programs: the rules, the solver, and the pass that checks that it is complete."""
