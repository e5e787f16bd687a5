// RUN: xrelay-opt %s -p llvm-recursion-to-frames --split-input-file --verify-diagnostics

llvm.func @f(%ctx: !llvm.ptr, %n: i64) -> i32 {
  // expected-error@+1 {{a function that calls itself has a buffer on the machine's stack}}
  %a = llvm.alloca %n x f32 : (i64) -> !llvm.ptr
  %s = llvm.call @f(%ctx, %n) : (!llvm.ptr, i64) -> i32
  llvm.return %s : i32
}

// -----

llvm.func @f(%ctx: !llvm.ptr, %x: !llvm.ptr) -> i32 {
  // expected-error@+1 {{a value of type vector<4xf32> cannot be stored in the frame of a function that calls itself}}
  %v = llvm.load %x : !llvm.ptr -> vector<4xf32>
  %s = llvm.call @f(%ctx, %x) : (!llvm.ptr, !llvm.ptr) -> i32
  llvm.store %v, %x : vector<4xf32>, !llvm.ptr
  llvm.return %s : i32
}
