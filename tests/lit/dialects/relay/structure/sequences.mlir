// RUN: XRELAY_ROUNDTRIP | filecheck %s
// RUN: xrelay-opt %s -p relay-infer-type | filecheck %s --check-prefix=TYPED

// CHECK-LABEL: @sequences(
func.func @sequences(%x: tensor<6x2xf32>, %at: tensor<i64>) -> (!relay.incomplete, !relay.incomplete) {
  // CHECK: %s = relay.split_to_sequence(%x) {axis = 1, keepdims = false} : (tensor<6x2xf32>) -> !relay.sequence<tensor<6xf32>>
  %s = relay.split_to_sequence(%x) {axis = 1, keepdims = false} : (tensor<6x2xf32>) -> !relay.sequence<tensor<6xf32>>
  // TYPED: %e = relay.sequence_empty() {of = tensor<?x2xf32>} : () -> !relay.sequence<tensor<?x2xf32>>
  %e = relay.sequence_empty() {of = tensor<?x2xf32>} : () -> !relay.incomplete
  // TYPED: -> !relay.sequence<tensor<?x2xf32>>
  %i = relay.sequence_insert(%e, %x) : (!relay.incomplete, tensor<6x2xf32>) -> !relay.incomplete
  // An extent that varies among the elements has no name in the sequence; an element that is taken out has one.
  // CHECK: relay.sequence_at(%i, %at)
  // TYPED: relay.sequence_at(%i, %at) {relay.binds = #relay.bounds<d0>} : (!relay.sequence<tensor<?x2xf32>>, tensor<i64>) -> tensor<?x2xf32, #relay.dims<d0>>
  %v = relay.sequence_at(%i, %at) : (!relay.incomplete, tensor<i64>) -> !relay.incomplete
  // TYPED: relay.sequence_length(%s) : (!relay.sequence<tensor<6xf32>>) -> tensor<i64>
  %n = relay.sequence_length(%s) : (!relay.sequence<tensor<6xf32>>) -> !relay.incomplete
  func.return %v, %n : !relay.incomplete, !relay.incomplete
}

// Branches whose sequences differ in extents yield a sequence of dynamic extents.
// TYPED-LABEL: @branches(
func.func @branches(%c: tensor<i1>, %x: tensor<6xf32>, %y: tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete {
  // TYPED: relay.if %c : tensor<i1> -> !relay.sequence<tensor<?xf32>>
  %r = relay.if %c : tensor<i1> -> !relay.incomplete {
    %s = relay.sequence_construct(%x) : (tensor<6xf32>) -> !relay.incomplete
    relay.yield %s : !relay.incomplete
  } else {
    %t = relay.sequence_construct(%x, %y) : (tensor<6xf32>, tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete
    relay.yield %t : !relay.incomplete
  }
  // TYPED: relay.concat_from_sequence(%r) {relay.binds = #relay.bounds<d0>} : (!relay.sequence<tensor<?xf32>>) -> tensor<?xf32, #relay.dims<d0>>
  %z = relay.concat_from_sequence(%r) : (!relay.incomplete) -> !relay.incomplete
  func.return %z : !relay.incomplete
}

// Values of several ranks form a sequence whose elements cannot be taken out.
// TYPED-LABEL: @ranks(
func.func @ranks(%x: tensor<6xf32>, %y: tensor<f32>) -> !relay.incomplete {
  // TYPED: relay.sequence_construct(%x, %y) : (tensor<6xf32>, tensor<f32>) -> !relay.sequence<tensor<*xf32>>
  %s = relay.sequence_construct(%x, %y) : (tensor<6xf32>, tensor<f32>) -> !relay.incomplete
  // TYPED: relay.sequence_erase(%s) : (!relay.sequence<tensor<*xf32>>) -> !relay.sequence<tensor<*xf32>>
  %r = relay.sequence_erase(%s) : (!relay.incomplete) -> !relay.incomplete
  func.return %r : !relay.incomplete
}

// CHECK-LABEL: @optionals(
func.func @optionals(%x: tensor<4xf32>) -> !relay.incomplete {
  // TYPED: %o = relay.optional_construct(%x) : (tensor<4xf32>) -> !relay.optional<tensor<4xf32>>
  %o = relay.optional_construct(%x) : (tensor<4xf32>) -> !relay.incomplete
  // CHECK: %p = relay.optional_construct() {of = tensor<4xf32>} : () -> !relay.optional<tensor<4xf32>>
  %p = relay.optional_construct() {of = tensor<4xf32>} : () -> !relay.optional<tensor<4xf32>>
  // TYPED: relay.optional_has_element(%p) : (!relay.optional<tensor<4xf32>>) -> tensor<i1>
  %c = relay.optional_has_element(%p) : (!relay.optional<tensor<4xf32>>) -> !relay.incomplete
  // TYPED: relay.optional_get_element(%o) : (!relay.optional<tensor<4xf32>>) -> tensor<4xf32>
  %y = relay.optional_get_element(%o) : (!relay.incomplete) -> !relay.incomplete
  func.return %y : !relay.incomplete
}

// An optional may contain a value of any rank.
// CHECK-LABEL: @optional_of_any_rank(
func.func @optional_of_any_rank(%x: tensor<4xf32>, %z: tensor<1x4xf32>, %c: tensor<i1>) -> !relay.incomplete {
  // TYPED: relay.if %c : tensor<i1> -> !relay.optional<tensor<*xf32>> {
  %y = relay.if %c : tensor<i1> -> !relay.incomplete {
    %o = relay.optional_construct(%x) : (tensor<4xf32>) -> !relay.incomplete
    relay.yield %o : !relay.incomplete
  } else {
    %p = relay.optional_construct(%z) : (tensor<1x4xf32>) -> !relay.incomplete
    relay.yield %p : !relay.incomplete
  }
  func.return %y : !relay.incomplete
}
