// RUN: xrelay-opt %s -t llvm-ir --split-input-file --verify-diagnostics

// expected-error@+1 {{func.func cannot be in a module that is translated to LLVM IR; help: only llvm.func and llvm.mlir.global can be}}
func.func @f() {
  func.return
}

// -----

llvm.func @f(%x: i32) {
  // expected-error@+1 {{arith.addi cannot be written as LLVM IR; help: convert it to the llvm dialect first}}
  %0 = arith.addi %x, %x : i32
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr) {
  // expected-error@+1 {{index is no type of LLVM; help: convert the ops that use it}}
  %0 = llvm.load %p : !llvm.ptr -> index
  llvm.return
}
