// RUN: xrelay-opt %s -p 'relay-split-args{max-function-args=12}' | filecheck %s
// RUN: not xrelay-opt %s -p 'relay-split-args{max-function-args=8}' 2>&1 | filecheck %s --check-prefix TIGHT
// RUN: not xrelay-opt %s -p 'relay-split-args{max-function-args=-1}' 2>&1 | filecheck %s --check-prefix NEGATIVE

// TIGHT: split_args_extents.mlir:16:3: error: relay-split-args: 8 arguments are too few for a concatenate of two operands
// NEGATIVE: error: relay-split-args: max-function-args is -1, it must be 0 or more

// Each operand is 4 arguments: itself, its open extent and two strides; the result is 3.
// CHECK-LABEL: @open(
// CHECK-NEXT:    relay.tuple(%a, %b)
// CHECK:         relay.concatenate({{.*}}) {axis = 1} : {{.*}} -> tensor<?x4xf32, #relay.dims<n>>
// CHECK-NEXT:    relay.tuple(%{{.*}}, %c)
// CHECK:         relay.concatenate({{.*}}) {axis = 1} : {{.*}} -> tensor<?x6xf32, #relay.dims<n>>
func.func @open(%a: tensor<?x2xf32, #relay.dims<n>>, %b: tensor<?x2xf32, #relay.dims<n>>, %c: tensor<?x2xf32, #relay.dims<n>>) -> tensor<?x6xf32, #relay.dims<n>> {
  %t = relay.tuple(%a, %b, %c) : (tensor<?x2xf32, #relay.dims<n>>, tensor<?x2xf32, #relay.dims<n>>, tensor<?x2xf32, #relay.dims<n>>) -> tuple<tensor<?x2xf32, #relay.dims<n>>, tensor<?x2xf32, #relay.dims<n>>, tensor<?x2xf32, #relay.dims<n>>>
  %y = relay.concatenate(%t) {axis = 1} : (tuple<tensor<?x2xf32, #relay.dims<n>>, tensor<?x2xf32, #relay.dims<n>>, tensor<?x2xf32, #relay.dims<n>>>) -> tensor<?x6xf32, #relay.dims<n>>
  func.return %y : tensor<?x6xf32, #relay.dims<n>>
}
