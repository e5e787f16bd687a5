// RUN: xrelay-opt %s -p relay-lazy-gradient-init | filecheck %s

// CHECK-LABEL: @neutral(
// CHECK-NEXT:    func.return %y : tensor<4xf32>
func.func @neutral(%y: tensor<4xf32>) -> tensor<4xf32> {
  %o = relay.ones_like(%y) : (tensor<4xf32>) -> tensor<4xf32>
  %g = relay.multiply(%o, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = relay.zeros_like(%y) : (tensor<4xf32>) -> tensor<4xf32>
  %s = relay.add(%g, %z) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = relay.subtract(%s, %z) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %q = relay.divide(%d, %o) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %q : tensor<4xf32>
}

// A returned constant names its shape: it does not depend on another value.
// CHECK-LABEL: @fills(
// CHECK:         %[[Z:.*]] = relay.zeros() {shape = [4], dtype = f32}
// CHECK:         %[[O:.*]] = relay.ones() {shape = [4], dtype = f32}
// CHECK-NOT:     relay.exp
func.func @fills(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = relay.zeros_like(%e) : (tensor<4xf32>) -> tensor<4xf32>
  %o = relay.ones_like(%e) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %z, %o : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @product_with_zeros(
// CHECK-NEXT:    %[[Z:.*]] = relay.zeros() {shape = [3, 4], dtype = f32}
// CHECK-NEXT:    func.return %[[Z]]
func.func @product_with_zeros(%x: tensor<4xf32>) -> tensor<3x4xf32> {
  %z = relay.zeros() {shape = [3, 1], dtype = f32} : () -> tensor<3x1xf32>
  %p = relay.multiply(%x, %z) : (tensor<4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  func.return %p : tensor<3x4xf32>
}

// CHECK-LABEL: @smaller_operand(
// CHECK-NEXT:    %[[B:.*]] = relay.broadcast_to(%x) {shape = [3, 4]}
// CHECK-NEXT:    func.return %[[B]]
func.func @smaller_operand(%x: tensor<4xf32>) -> tensor<3x4xf32> {
  %z = relay.zeros() {shape = [3, 4], dtype = f32} : () -> tensor<3x4xf32>
  %s = relay.add(%z, %x) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  func.return %s : tensor<3x4xf32>
}

// Zeros stay zeros in any shape and sum; ones do not stay ones when summed.
// CHECK-LABEL: @shapes(
// CHECK-DAG:     %[[Z:.*]] = relay.zeros() {shape = [4], dtype = f32}
// CHECK-DAG:     %[[O:.*]] = relay.ones() {shape = [4, 3], dtype = f64}
// CHECK-DAG:     %[[S:.*]] = relay.sum(
// CHECK:         func.return %[[Z]], %[[O]], %[[S]]
func.func @shapes() -> (tensor<4xf32>, tensor<4x3xf64>, tensor<4xf32>) {
  %z = relay.zeros() {shape = [3, 4], dtype = f32} : () -> tensor<3x4xf32>
  %n = relay.negative(%z) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %a = relay.sum(%n) {axis = [0]} : (tensor<3x4xf32>) -> tensor<4xf32>
  %o = relay.ones() {shape = [3, 4], dtype = f32} : () -> tensor<3x4xf32>
  %t = relay.transpose(%o) : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %c = relay.cast(%t) {dtype = f64} : (tensor<4x3xf32>) -> tensor<4x3xf64>
  %s = relay.sum(%o) {axis = [0]} : (tensor<3x4xf32>) -> tensor<4xf32>
  func.return %a, %c, %s : tensor<4xf32>, tensor<4x3xf64>, tensor<4xf32>
}

// An unknown shape cannot be named, but a factor of ones or zeros of the same type is simplified.
// CHECK-LABEL: @named(
// CHECK-NEXT:    %[[Z:.*]] = relay.zeros_like(%x)
// CHECK-NEXT:    func.return %x, %[[Z]]
func.func @named(%x: tensor<?xf32, #relay.dims<n>>) -> (tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<n>>) {
  %o = relay.ones_like(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  %g = relay.multiply(%o, %x) : (tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  %z = relay.zeros_like(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  %p = relay.multiply(%z, %x) : (tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  func.return %g, %p : tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<n>>
}

// Other numbers stay, and 0 is not neutral as a divisor or minuend.
// CHECK-LABEL: @left_alone(
// CHECK:         relay.add(%x, %{{.*}})
// CHECK:         relay.subtract(%{{.*}}, %
// CHECK:         relay.divide(%{{.*}}, %x)
func.func @left_alone(%x: tensor<4xf32>) -> tensor<4xf32> {
  %o = relay.ones_like(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = relay.zeros_like(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %a = relay.add(%x, %o) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %s = relay.subtract(%z, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = relay.divide(%o, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = relay.multiply(%s, %d) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
