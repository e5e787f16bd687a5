"""loop → scf, memref, vector, arith, math: kernels as rolled loop nests that LLVM turns into register tiles."""
