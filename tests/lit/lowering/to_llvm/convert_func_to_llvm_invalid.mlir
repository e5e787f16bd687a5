// RUN: xrelay-opt %s -p convert-func-to-llvm --verify-diagnostics

// expected-error@+1 {{failed to convert func.func: @f returns values; results go to memory that the caller passes}}
func.func @f(%x: f32) -> f32 {
  func.return %x : f32
}
