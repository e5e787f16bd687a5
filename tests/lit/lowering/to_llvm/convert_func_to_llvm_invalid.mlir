// RUN: xrelay-opt %s -p convert-func-to-llvm --split-input-file --verify-diagnostics

// expected-error@+1 {{failed to convert func.func: @f returns values; results go to memory that the caller passes}}
func.func @f(%x: f32) -> f32 {
  func.return %x : f32
}

// -----

// expected-error@+1 {{failed to convert func.func: @pair is always inlined: it must have a body and return one value}}
func.func private @pair(%x: f32) -> (f32, f32) attributes {llvm.always_inline} {
  func.return %x, %x : f32, f32
}

// -----

func.func private @block(%x: memref<4xf32>) attributes {loop.num_outputs = 1 : i64, loop.kernel} {
  loop.for "i" %i to 4 {
    // expected-error@+1 {{convert-func-to-llvm does not accept loop.block; help: run loop-lower-blocks first}}
    loop.block "relu" (%vi : spatial 4 = %i) reads() writes(%x) {
      %0 = arith.constant 0.000000e+00 : f32
      loop.store %0, %x[%vi] : memref<4xf32>
    }
  }
  func.return
}
