// RUN: xrelay-opt %s -p convert-memref-to-llvm --split-input-file --verify-diagnostics

func.func @dynamic_stride(%m: memref<4x?xf32>, %i: index) -> f32 {
  // expected-error@+1 {{failed to convert memref.load: the strides of memref<4x?xf32> are dynamic}}
  %x = memref.load %m[%i, %i] : memref<4x?xf32>
  func.return %x : f32
}

// -----

func.func @dynamic_buffer(%n: index) {
  // expected-error@+1 {{failed to convert memref.alloca: a stack buffer of type memref<?xf32> has no static size}}
  %m = memref.alloca(%n) : memref<?xf32>
  func.return
}

// -----

func.func @strided_copy(%a: memref<4x8xf32, strided<[16, 1]>>, %b: memref<4x8xf32>) {
  // expected-error@+1 {{requires a loop: expand it before this pass}}
  "memref.copy"(%a, %b) : (memref<4x8xf32, strided<[16, 1]>>, memref<4x8xf32>) -> ()
  func.return
}
