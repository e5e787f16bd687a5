// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @tuple(
func.func @tuple(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // CHECK: %r = relay.tuple(%x, %y) : (tensor<4xf32>, tensor<8xf32>) -> tuple<tensor<4xf32>, tensor<8xf32>>
  %r = relay.tuple(%x, %y) : (tensor<4xf32>, tensor<8xf32>) -> tuple<tensor<4xf32>, tensor<8xf32>>
  func.return
}

// CHECK-LABEL: @empty(
func.func @empty() {
  // CHECK: %r = relay.tuple() : () -> tuple<>
  %r = relay.tuple() : () -> tuple<>
  func.return
}

// CHECK-LABEL: @nested(
func.func @nested(%x: tuple<tensor<4xf32>>) {
  // CHECK: %r = relay.tuple(%x) : (tuple<tensor<4xf32>>) -> tuple<tuple<tensor<4xf32>>>
  %r = relay.tuple(%x) : (tuple<tensor<4xf32>>) -> tuple<tuple<tensor<4xf32>>>
  func.return
}

// CHECK-LABEL: @get_item(
func.func @get_item(%t: tuple<tensor<4xf32>, tensor<8xf32>>) {
  // CHECK: %r = relay.tuple_get_item(%t) {index = 1} : (tuple<tensor<4xf32>, tensor<8xf32>>) -> tensor<8xf32>
  %r = relay.tuple_get_item(%t) {index = 1} : (tuple<tensor<4xf32>, tensor<8xf32>>) -> tensor<8xf32>
  func.return
}

// CHECK-LABEL: @incomplete_field(
func.func @incomplete_field(%t: tuple<!relay.incomplete, tensor<8xf32>>) {
  // CHECK: %r = relay.tuple_get_item(%t) {index = 0} : (tuple<!relay.incomplete, tensor<8xf32>>) -> !relay.incomplete
  %r = relay.tuple_get_item(%t) {index = 0} : (tuple<!relay.incomplete, tensor<8xf32>>) -> !relay.incomplete
  func.return
}
