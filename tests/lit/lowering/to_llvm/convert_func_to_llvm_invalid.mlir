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
