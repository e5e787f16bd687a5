// RUN: xrelay-opt %s -p relay-infer-type | filecheck %s

// The shape of a value, taken apart and put together, is known as the program computes it.
// CHECK-LABEL: @merged_axes(
func.func @merged_axes(%x: tensor<?x?x8xf32, #relay.dims<n, s>>) -> !relay.incomplete {
  %shape = relay.shape_of(%x) : (tensor<?x?x8xf32, #relay.dims<n, s>>) -> tensor<3xi64>
  %parts = relay.split(%shape) {indices_or_sections = 3 : i64} : (tensor<3xi64>) -> !relay.incomplete
  %n = relay.tuple_get_item(%parts) {index = 0} : (!relay.incomplete) -> !relay.incomplete
  %s = relay.tuple_get_item(%parts) {index = 1} : (!relay.incomplete) -> !relay.incomplete
  %c = relay.tuple_get_item(%parts) {index = 2} : (!relay.incomplete) -> !relay.incomplete
  %m = relay.multiply(%s, %c) : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
  %t = relay.tuple(%n, %m) : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
  %new = relay.concatenate(%t) : (!relay.incomplete) -> !relay.incomplete
  // CHECK: relay.dyn.reshape({{.*}} -> tensor<?x?xf32, #relay.dims<n, 8 * s>>
  %y = relay.dyn.reshape(%x, %new) : (tensor<?x?x8xf32, #relay.dims<n, s>>, !relay.incomplete) -> !relay.incomplete
  func.return %y : !relay.incomplete
}

// What an expression might mean as a code of reshape is demanded, not assumed.
// CHECK-LABEL: @demands(
func.func @demands(%x: tensor<?x6xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<c>>) -> !relay.incomplete {
  %c = relay.shape_of(%y) : (tensor<?xf32, #relay.dims<c>>) -> tensor<1xi64>
  %rest = relay.constant dense<[-1]> : tensor<1xi64>
  %t = relay.tuple(%c, %rest) : (tensor<1xi64>, tensor<1xi64>) -> !relay.incomplete
  %new = relay.concatenate(%t) : (!relay.incomplete) -> !relay.incomplete
  // CHECK: relay.dyn.reshape({{.*}}c >= 1 "C2 an extent that is not copied"{{.*}}mod c == 0 "C3
  %r = relay.dyn.reshape(%x, %new) : (tensor<?x6xf32, #relay.dims<n>>, !relay.incomplete) -> !relay.incomplete
  func.return %r : !relay.incomplete
}

// Extents that only the data tell are the op's own.
// CHECK-LABEL: @unknown(
func.func @unknown(%x: tensor<4xf32>, %s: tensor<2xi64>) -> !relay.incomplete {
  // CHECK: relay.dyn.reshape(%x, %s) {relay.binds = #relay.bounds<e, e_1>} : (tensor<4xf32>, tensor<2xi64>) -> tensor<?x?xf32, #relay.dims<e, e_1>>
  %r = relay.dyn.reshape(%x, %s) : (tensor<4xf32>, tensor<2xi64>) -> !relay.incomplete
  func.return %r : !relay.incomplete
}
