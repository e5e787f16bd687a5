"""Lowering from scf, memref, vector, arith, math and cf to the llvm dialect: in one traversal, or pass by pass."""
