// RUN: xrelay-opt %s -p qnn-round-block-data | filecheck %s
// RUN: xrelay-opt %s -p qnn-round-block-data --remarks 2>&1 >/dev/null | filecheck %s --check-prefix SAYS
// RUN: xrelay-opt %s -p 'qnn-round-block-data{vector-lanes=8}' | filecheck %s --check-prefix NARROW

// Both products read the same bytes; the zero points of the second are one number.
// CHECK-LABEL: func.func @dense
// CHECK:      %[[B:.*]] = relay.reshape(%x) {newshape = [0, -4, 2, 32]} : (tensor<5x64xf32>) -> tensor<5x2x32xf32>
// CHECK:      relay.max(%{{.*}}) {axis = [2]}
// CHECK:      relay.round
// CHECK:      %[[Q:.*]] = relay.reshape(%{{.*}}) {newshape = [0, -3]} : (tensor<5x2x32xi8>) -> tensor<5x64xi8>
// CHECK:      relay.qnn.contrib_block_dense_bytes(%[[Q]], {{.*}}) {units = 3} : (tensor<5x64xi8>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<1x8x64xui8>, tensor<1x2x16xf32>, tensor<1x2x16xui8>) -> tensor<5x3xf32>
// CHECK-NOT:  relay.round
// CHECK:      relay.qnn.contrib_block_dense_bytes(%[[Q]], {{.*}} tensor<ui8>) -> tensor<5x3xf32>
// SAYS-COUNT-2: relay.qnn.block_dense: data of bytes
// NARROW-LABEL: func.func @dense
// NARROW-NOT: contrib_block_dense_bytes
func.func @dense(%x: tensor<5x64xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>) {
  %w = relay.constant dense<3> : tensor<3x8xi32>
  %s = relay.constant dense<0.5> : tensor<3x2xf32>
  %z = relay.constant dense<7> : tensor<3x1xi32>
  %o = relay.constant dense<1> : tensor<i32>
  %a = relay.qnn.block_dense(%x, %w, %s, %z) {biased = true, rounds_data = true} : (tensor<5x64xf32>, tensor<3x8xi32>, tensor<3x2xf32>, tensor<3x1xi32>) -> tensor<5x3xf32>
  %b = relay.qnn.block_dense(%x, %w, %s, %o) {biased = true, rounds_data = true} : (tensor<5x64xf32>, tensor<3x8xi32>, tensor<3x2xf32>, tensor<i32>) -> tensor<5x3xf32>
  func.return %a, %b : tensor<5x3xf32>, tensor<5x3xf32>
}

// Left alone: a product that may not round its data. Refused: a weight that is not constant, signed numbers, zero
// points of floats or out of range, and a part of a block.
// CHECK-LABEL: func.func @others
// CHECK-NOT: contrib_block_dense_bytes
// SAYS: its weight is not constant
// SAYS: its numbers are signed, or its zero points are floats
// SAYS: its numbers are signed, or its zero points are floats
// SAYS: its zero point -9 is no byte
// SAYS: its 60 terms are no blocks of 32
func.func @others(%x: tensor<5x64xf32>, %v: tensor<3x8xi32>, %y: tensor<5x60xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>) {
  %w = relay.constant dense<3> : tensor<3x8xi32>
  %s = relay.constant dense<0.5> : tensor<3x2xf32>
  %o = relay.constant dense<1> : tensor<i32>
  %n = relay.constant dense<-9> : tensor<i32>
  %f = relay.constant dense<1.5> : tensor<3x2xf32>
  %a = relay.qnn.block_dense(%x, %w, %s, %o) {biased = true} : (tensor<5x64xf32>, tensor<3x8xi32>, tensor<3x2xf32>, tensor<i32>) -> tensor<5x3xf32>
  %b = relay.qnn.block_dense(%x, %v, %s, %o) {biased = true, rounds_data = true} : (tensor<5x64xf32>, tensor<3x8xi32>, tensor<3x2xf32>, tensor<i32>) -> tensor<5x3xf32>
  %c = relay.qnn.block_dense(%x, %w, %s, %o) {rounds_data = true} : (tensor<5x64xf32>, tensor<3x8xi32>, tensor<3x2xf32>, tensor<i32>) -> tensor<5x3xf32>
  %d = relay.qnn.block_dense(%x, %w, %s, %f) {biased = true, rounds_data = true} : (tensor<5x64xf32>, tensor<3x8xi32>, tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<5x3xf32>
  %g = relay.qnn.block_dense(%x, %w, %s, %n) {biased = true, rounds_data = true} : (tensor<5x64xf32>, tensor<3x8xi32>, tensor<3x2xf32>, tensor<i32>) -> tensor<5x3xf32>
  %h = relay.qnn.block_dense(%y, %w, %s, %o) {biased = true, rounds_data = true} : (tensor<5x60xf32>, tensor<3x8xi32>, tensor<3x2xf32>, tensor<i32>) -> tensor<5x3xf32>
  func.return %a, %b, %c, %d, %g, %h : tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>
}
