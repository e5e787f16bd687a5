"""From scf, memref, vector, arith, math and cf to the llvm dialect: in one traversal, or one pass a dialect."""
