"""Expansions of ops that LLVM lacks or computes slowly, before the conversion to the llvm dialect."""
