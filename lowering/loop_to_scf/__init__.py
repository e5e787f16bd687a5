"""Lowering from loop to scf, memref, vector, arith and math: rolled loop nests that LLVM turns into register tiles."""
