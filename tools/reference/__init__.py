"""The pages of `docs/reference`, generated from the definitions of ops, passes, commands, primitives and attributes."""
