// RUN: xrelay-opt %s -p relay-canonicalize-ops | filecheck %s

// CHECK-LABEL: func.func @channels
// CHECK-NEXT:    %[[E:.*]] = relay.expand_dims(%b) {axis = 1, num_newaxis = 2} : (tensor<8xf32>) -> tensor<8x1x1xf32>
// CHECK-NEXT:    %[[Y:.*]] = relay.add(%x, %[[E]])
// CHECK-NEXT:    func.return %[[Y]]
func.func @channels(%x: tensor<1x8x4x4xf32>, %b: tensor<8xf32>) -> tensor<1x8x4x4xf32> {
  %y = relay.nn.bias_add(%x, %b) : (tensor<1x8x4x4xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
  func.return %y : tensor<1x8x4x4xf32>
}

// CHECK-LABEL: func.func @last_axis
// CHECK-NEXT:    relay.add(%x, %b)
func.func @last_axis(%x: tensor<2x8xf32>, %b: tensor<8xf32>) -> tensor<2x8xf32> {
  %y = relay.nn.bias_add(%x, %b) {axis = -1} : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  func.return %y : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @not_typed_yet
// CHECK-NEXT:    relay.nn.bias_add
func.func @not_typed_yet(%x: !relay.incomplete, %b: tensor<8xf32>) -> !relay.incomplete {
  %y = relay.nn.bias_add(%x, %b) : (!relay.incomplete, tensor<8xf32>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}

// An addition broadcasts a bias of one element; the requirement of bias_add is kept.
// CHECK-LABEL: func.func @named
// CHECK:         %[[Y:.*]] = relay.add(%x
// CHECK-NEXT:    relay.require(%[[Y]]) {demands = #relay.requirements<m == n "C2
// CHECK:         %[[Z:.*]] = relay.add(%x
// CHECK-NEXT:    relay.require(%[[Z]]) {demands = #relay.requirements<1 == n "C2
func.func @named(%x: tensor<2x?x3xf32, #relay.dims<n>>, %b: tensor<?xf32, #relay.dims<m>>, %c: tensor<1xf32>) -> (tensor<2x?x3xf32, #relay.dims<n>>, tensor<2x?x3xf32, #relay.dims<n>>) {
  %y = relay.nn.bias_add(%x, %b) {relay.requires = #relay.requirements<m == n "C2 the bias and axis 1 of the data differ in extent">} : (tensor<2x?x3xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<m>>) -> tensor<2x?x3xf32, #relay.dims<n>>
  %z = relay.nn.bias_add(%x, %c) {relay.requires = #relay.requirements<1 == n "C2 the bias and axis 1 of the data differ in extent">} : (tensor<2x?x3xf32, #relay.dims<n>>, tensor<1xf32>) -> tensor<2x?x3xf32, #relay.dims<n>>
  func.return %y, %z : tensor<2x?x3xf32, #relay.dims<n>>, tensor<2x?x3xf32, #relay.dims<n>>
}

// CHECK-LABEL: func.func @mish
// CHECK-NEXT:    %[[Y:.*]] = relay.nn.mish(%x)
// CHECK-NEXT:    func.return %[[Y]]
func.func @mish(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %s = relay.nn.softplus(%x) : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %t = relay.tanh(%s) : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %y = relay.multiply(%t, %x) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  func.return %y : tensor<2x8xf32>
}

// A tanh with another use, and one of another value.
// CHECK-LABEL: func.func @no_mish
// CHECK-NOT:     nn.mish
func.func @no_mish(%x: tensor<8xf32>, %z: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %s = relay.nn.softplus(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %t = relay.tanh(%s) : (tensor<8xf32>) -> tensor<8xf32>
  %y = relay.multiply(%x, %t) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %u = relay.nn.softplus(%z) : (tensor<8xf32>) -> tensor<8xf32>
  %v = relay.tanh(%u) : (tensor<8xf32>) -> tensor<8xf32>
  %w = relay.multiply(%x, %v) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %t, %y, %w : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// A named axis is repeated along a new axis before it, so that no index is divided by its extent.
// CHECK-LABEL: func.func @tile
// CHECK-NEXT:    %[[E:.*]] = relay.reshape(%x) {newshape = [0, 0, -4, 1, -1]} : {{.*}} -> tensor<?x4x1x?xf32, #relay.dims<n, m>>
// CHECK-NEXT:    %[[T:.*]] = relay.tile(%[[E]]) {reps = [1, 2, 3, 1]} : {{.*}} -> tensor<?x8x3x?xf32, #relay.dims<n, m>>
// CHECK-NEXT:    %[[Y:.*]] = relay.reshape(%[[T]]) {newshape = [0, 0, -3]} : {{.*}} -> tensor<?x8x?xf32, #relay.dims<n, 3 * m>>
// CHECK-NEXT:    func.return %[[Y]]
func.func @tile(%x: tensor<?x4x?xf32, #relay.dims<n, m>>) -> tensor<?x8x?xf32, #relay.dims<n, 3 * m>> {
  %y = relay.tile(%x) {reps = [2, 3]} : (tensor<?x4x?xf32, #relay.dims<n, m>>) -> tensor<?x8x?xf32, #relay.dims<n, 3 * m>>
  func.return %y : tensor<?x8x?xf32, #relay.dims<n, 3 * m>>
}

// Tiles of static axes, and those that add axes, are left alone.
// CHECK-LABEL: func.func @other_tiles
// CHECK-NEXT:    %[[A:.*]] = relay.tile(%x) {reps = [2, 1]}
// CHECK-NEXT:    relay.tile(%[[A]]) {reps = [2, 1, 3]}
func.func @other_tiles(%x: tensor<4x?xf32, #relay.dims<m>>) -> tensor<2x8x?xf32, #relay.dims<3 * m>> {
  %a = relay.tile(%x) {reps = [2, 1]} : (tensor<4x?xf32, #relay.dims<m>>) -> tensor<8x?xf32, #relay.dims<m>>
  %y = relay.tile(%a) {reps = [2, 1, 3]} : (tensor<8x?xf32, #relay.dims<m>>) -> tensor<2x8x?xf32, #relay.dims<3 * m>>
  func.return %y : tensor<2x8x?xf32, #relay.dims<3 * m>>
}
