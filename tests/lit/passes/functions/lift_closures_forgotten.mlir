// RUN: xrelay-opt %s -p relay-infer-type,relay-lift-closures | filecheck %s

// The result of a call may have an extent derived from one that only its callee names. A closure captures it as an
// optional, whose type has no extents, so that the value determines all extents in the closure.
// CHECK-LABEL: func.func @forgotten
func.func @forgotten(%c: tensor<i1>, %x: tensor<3xf32>, %q: tensor<f32>) -> tensor<f32> {
  %f = relay.fn(%a: tensor<3xf32>) -> !relay.incomplete {
    %i = relay.argwhere(%a) : (tensor<3xf32>) -> !relay.incomplete
    %s = relay.strided_slice(%i) {begin = [0], end = [9223372036854775807], strides = [2]} : (!relay.incomplete) -> !relay.incomplete
    relay.yield %s : !relay.incomplete
  }
  // CHECK: %v = relay.strided_slice({{.*}} -> tensor<?x1xi32, #relay.dims<(k_1 + 1) floordiv 2>>
  %v = relay.invoke %f(%x) : (tensor<3xf32>) -> !relay.incomplete
  // CHECK: %0 = relay.optional_construct(%v) {{.*}} -> !relay.optional<tensor<?x1xi32>>
  // CHECK: %1 = relay.optional_get_element(%0) {relay.binds = #relay.bounds<d0>}
  // CHECK: relay.closure_construct(%1)
  %g = relay.if %c : tensor<i1> -> (tensor<f32>) -> tensor<f32> {
    %g0 = relay.fn(%b: tensor<f32>) -> tensor<f32> {
      %w0 = relay.cast(%v) {dtype = f32} : (!relay.incomplete) -> !relay.incomplete
      %t0 = relay.sum(%w0) : (!relay.incomplete) -> tensor<f32>
      %r0 = relay.add(%t0, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      relay.yield %r0 : tensor<f32>
    }
    relay.yield %g0 : (tensor<f32>) -> tensor<f32>
  } else {
    %g1 = relay.fn(%b: tensor<f32>) -> tensor<f32> {
      relay.yield %b : tensor<f32>
    }
    relay.yield %g1 : (tensor<f32>) -> tensor<f32>
  }
  %r = relay.invoke %g(%q) : (tensor<f32>) -> tensor<f32>
  func.return %r : tensor<f32>
}
