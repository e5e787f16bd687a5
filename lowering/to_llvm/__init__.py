"""From scf, memref, vector, arith, math and cf to the llvm dialect, one pass a dialect."""
