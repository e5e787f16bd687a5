// RUN: xrelay-opt %s -p "relay-merge-kernels{least=2}" --split-input-file | filecheck %s
// RUN: xrelay-opt %s -p "relay-merge-kernels{least=3}" --split-input-file | filecheck %s --check-prefix=FEW
// RUN: xrelay-opt %s -p "relay-merge-kernels{least=2}" --split-input-file --remarks 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// Kernels that differ in extents alone become one kernel with a name for each extent that varies.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %y = relay.call @scale<d0 = 8>(%a, %s) : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT:    %z = relay.call @scale<d0 = 9>(%b, %s) : (tensor<9x4xf32>, tensor<1x4xf32>) -> tensor<9x4xf32>
// CHECK-NEXT:    func.return %y, %z
// CHECK:       func.func private @scale(%p: tensor<?x4xf32, #relay.dims<d0>>, %q: tensor<1x4xf32>) -> tensor<?x4xf32, #relay.dims<d0>>
// CHECK-SAME:    relay.sizes = {d0 = array<i64: 8, 9, 9>}
// CHECK-NEXT:    relay.multiply(%p, %q)
// CHECK-NOT:   @scale_1
// FEW-LABEL:   func.func @main
// FEW:           func.call @scale(
// FEW:           func.call @scale_1(
// REMARK:      relay-merge-kernels: func.func: replaces 2 kernels that differ in extents alone
func.func @main(%a: tensor<8x4xf32>, %b: tensor<9x4xf32>, %s: tensor<1x4xf32>) -> (tensor<8x4xf32>, tensor<9x4xf32>) {
  %y = func.call @scale(%a, %s) : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  %z = func.call @scale_1(%b, %s) : (tensor<9x4xf32>, tensor<1x4xf32>) -> tensor<9x4xf32>
  func.return %y, %z : tensor<8x4xf32>, tensor<9x4xf32>
}
func.func private @scale(%p: tensor<8x4xf32>, %q: tensor<1x4xf32>) -> tensor<8x4xf32> attributes {relay.primitive} {
  %0 = relay.multiply(%p, %q) : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  func.return %0 : tensor<8x4xf32>
}
func.func private @scale_1(%p: tensor<9x4xf32>, %q: tensor<1x4xf32>) -> tensor<9x4xf32> attributes {relay.primitive} {
  %0 = relay.multiply(%p, %q) : (tensor<9x4xf32>, tensor<1x4xf32>) -> tensor<9x4xf32>
  func.return %0 : tensor<9x4xf32>
}

// -----

// Kernels with other attributes, or with equal extents at other places, stay.
// CHECK-LABEL: func.func @attributes
// CHECK-COUNT-4: func.call
func.func @attributes(%a: tensor<4x8xf32>, %b: tensor<4x9xf32>, %c: tensor<4x4xf32>) {
  %0 = func.call @sum(%a) : (tensor<4x8xf32>) -> tensor<4xf32>
  %1 = func.call @sum_1(%b) : (tensor<4x9xf32>) -> tensor<9xf32>
  %2 = func.call @max(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = func.call @max_1(%c) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return
}
func.func private @sum(%p: tensor<4x8xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %0 = relay.sum(%p) {axis = [1]} : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
func.func private @sum_1(%p: tensor<4x9xf32>) -> tensor<9xf32> attributes {relay.primitive} {
  %0 = relay.sum(%p) {axis = [0]} : (tensor<4x9xf32>) -> tensor<9xf32>
  func.return %0 : tensor<9xf32>
}
func.func private @max(%p: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {relay.primitive} {
  %0 = relay.nn.relu(%p) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %0 : tensor<4x8xf32>
}
func.func private @max_1(%p: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {relay.primitive} {
  %0 = relay.nn.relu(%p) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %0 : tensor<4x4xf32>
}

// -----

// Products need known extents for their tiles, transposes may become views, and large kernels lose speed.
// CHECK-LABEL: func.func @refused
// CHECK-COUNT-6: func.call
func.func @refused(%a: tensor<8x4xf32>, %b: tensor<9x4xf32>, %w: tensor<3x4xf32>, %c: tensor<100x100xf32>, %d: tensor<101x101xf32>) {
  %0 = func.call @dense(%a, %w) : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %1 = func.call @dense_1(%b, %w) : (tensor<9x4xf32>, tensor<3x4xf32>) -> tensor<9x3xf32>
  %2 = func.call @transpose(%a) : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %3 = func.call @transpose_1(%b) : (tensor<9x4xf32>) -> tensor<4x9xf32>
  %4 = func.call @large(%c) : (tensor<100x100xf32>) -> tensor<100x100xf32>
  %5 = func.call @large_1(%d) : (tensor<101x101xf32>) -> tensor<101x101xf32>
  func.return
}
func.func private @dense(%p: tensor<8x4xf32>, %q: tensor<3x4xf32>) -> tensor<8x3xf32> attributes {relay.primitive} {
  %0 = relay.nn.dense(%p, %q) : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  func.return %0 : tensor<8x3xf32>
}
func.func private @dense_1(%p: tensor<9x4xf32>, %q: tensor<3x4xf32>) -> tensor<9x3xf32> attributes {relay.primitive} {
  %0 = relay.nn.dense(%p, %q) : (tensor<9x4xf32>, tensor<3x4xf32>) -> tensor<9x3xf32>
  func.return %0 : tensor<9x3xf32>
}
func.func private @transpose(%p: tensor<8x4xf32>) -> tensor<4x8xf32> attributes {relay.primitive} {
  %0 = relay.transpose(%p) {axes = [1, 0]} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  func.return %0 : tensor<4x8xf32>
}
func.func private @transpose_1(%p: tensor<9x4xf32>) -> tensor<4x9xf32> attributes {relay.primitive} {
  %0 = relay.transpose(%p) {axes = [1, 0]} : (tensor<9x4xf32>) -> tensor<4x9xf32>
  func.return %0 : tensor<4x9xf32>
}
func.func private @large(%p: tensor<100x100xf32>) -> tensor<100x100xf32> attributes {relay.primitive} {
  %0 = relay.nn.relu(%p) : (tensor<100x100xf32>) -> tensor<100x100xf32>
  func.return %0 : tensor<100x100xf32>
}
func.func private @large_1(%p: tensor<101x101xf32>) -> tensor<101x101xf32> attributes {relay.primitive} {
  %0 = relay.nn.relu(%p) : (tensor<101x101xf32>) -> tensor<101x101xf32>
  func.return %0 : tensor<101x101xf32>
}

// -----

// A module with named dimensions stays: loop-merge-kernels merges its kernels.
// CHECK-LABEL: func.func @open
// CHECK-COUNT-2: func.call
func.func @open(%a: tensor<8xf32>, %b: tensor<9xf32>, %c: tensor<?xf32, #relay.dims<n>>) {
  %0 = func.call @relu(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = func.call @relu_1(%b) : (tensor<9xf32>) -> tensor<9xf32>
  func.return
}
func.func private @relu(%p: tensor<8xf32>) -> tensor<8xf32> attributes {relay.primitive} {
  %0 = relay.nn.relu(%p) : (tensor<8xf32>) -> tensor<8xf32>
  func.return %0 : tensor<8xf32>
}
func.func private @relu_1(%p: tensor<9xf32>) -> tensor<9xf32> attributes {relay.primitive} {
  %0 = relay.nn.relu(%p) : (tensor<9xf32>) -> tensor<9xf32>
  func.return %0 : tensor<9xf32>
}

// -----

// The named dimension must be at least 3, which a kernel cannot check.
// CHECK-LABEL: func.func @pools
// CHECK-COUNT-2: func.call
// REMARK:      relay-merge-kernels: func.func: 2 kernels differ in extents alone, but relay.nn.max_pool1d would have to check
func.func @pools(%a: tensor<1x2x8xf32>, %b: tensor<1x2x9xf32>) {
  %0 = func.call @pool(%a) : (tensor<1x2x8xf32>) -> tensor<1x2x6xf32>
  %1 = func.call @pool_1(%b) : (tensor<1x2x9xf32>) -> tensor<1x2x7xf32>
  func.return
}
func.func private @pool(%p: tensor<1x2x8xf32>) -> tensor<1x2x6xf32> attributes {relay.primitive} {
  %0 = relay.nn.max_pool1d(%p) {pool_size = [3]} : (tensor<1x2x8xf32>) -> tensor<1x2x6xf32>
  func.return %0 : tensor<1x2x6xf32>
}
func.func private @pool_1(%p: tensor<1x2x9xf32>) -> tensor<1x2x7xf32> attributes {relay.primitive} {
  %0 = relay.nn.max_pool1d(%p) {pool_size = [3]} : (tensor<1x2x9xf32>) -> tensor<1x2x7xf32>
  func.return %0 : tensor<1x2x7xf32>
}
