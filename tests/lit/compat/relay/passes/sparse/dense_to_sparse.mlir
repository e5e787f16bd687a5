// RUN: xrelay-opt %s -p 'relay-dense-to-sparse{weight-name="w","named" weight-shape="5x4x2x5x3","1x2x2x1x3"}' | filecheck %s
// RUN: xrelay-opt %s -p relay-dense-to-sparse | filecheck %s --check-prefix NONE
// RUN: xrelay-opt %s -p 'relay-dense-to-sparse{weight-name="w" weight-shape="5x4x2x5x3"}' --remarks 2>&1 >/dev/null | filecheck %s --check-prefix REMARK
// RUN: not xrelay-opt %s -p 'relay-dense-to-sparse{weight-name="w"}' 2>&1 | filecheck %s --check-prefix COUNT
// RUN: not xrelay-opt %s -p 'relay-dense-to-sparse{weight-name="w" weight-shape="5x4x2x5"}' 2>&1 | filecheck %s --check-prefix EXTENTS
// RUN: not xrelay-opt %s -p 'relay-dense-to-sparse{weight-name="w" weight-shape="5x4x3x5x3"}' 2>&1 | filecheck %s --check-prefix BLOCKS
// RUN: not xrelay-opt %s -p 'relay-dense-to-sparse{weight-name="w" weight-shape="5x4x2x5x4"}' 2>&1 | filecheck %s --check-prefix ROWS

// NONE-NOT: sparse
// COUNT: error: relay-dense-to-sparse: 1 weights and 0 shapes are given
// EXTENTS: error: relay-dense-to-sparse: the shape of 'w' is not 5 extents, as 240x32x1x240x25
// BLOCKS: error: relay-dense-to-sparse: the sparse arrays of 'w' do not match: [relay.nn.sparse_dense C8] 8 columns modulo 3: 2 != 0
// ROWS: error: relay-dense-to-sparse: with the sparse arrays of 'w' the result is tensor<1x12xf32>, not tensor<1x8xf32>

// CHECK-LABEL: func.func @twice(%x: tensor<1x8xf32>, %b: tensor<8xf32>, %w.data: tensor<5x4x2xf32> {relay.name = "w.data"}, %w.indices: tensor<5xi32> {relay.name = "w.indices"}, %w.indptr: tensor<3xi32> {relay.name = "w.indptr"})
func.func @twice(%x: tensor<1x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> tensor<1x8xf32> {
  // REMARK: relay.nn.dense: its weight w is sparse now
  // CHECK: %y = relay.nn.sparse_dense(%x, %w.data, %w.indices, %w.indptr) : (tensor<1x8xf32>, tensor<5x4x2xf32>, tensor<5xi32>, tensor<3xi32>) -> tensor<1x8xf32>
  %y = relay.nn.dense(%x, %w) {units = 8} : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
  // CHECK: %z = relay.nn.sparse_dense(%y, %w.data, %w.indices, %w.indptr)
  %z = relay.nn.dense(%y, %w) : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
  func.return %z : tensor<1x8xf32>
}

// CHECK-LABEL: func.func @used(%x: tensor<1x4xf16>, %p: tensor<4x4xf16> {relay.name = "named"}, %named.data: tensor<1x2x2xf16>
func.func @used(%x: tensor<1x4xf16>, %p: tensor<4x4xf16> {relay.name = "named"}) -> (tensor<1x4xf16>, tensor<4x4xf16>) {
  // CHECK: relay.nn.sparse_dense(%x, %named.data, %named.indices, %named.indptr)
  %y = relay.nn.dense(%x, %p) : (tensor<1x4xf16>, tensor<4x4xf16>) -> tensor<1x4xf16>
  func.return %y, %p : tensor<1x4xf16>, tensor<4x4xf16>
}

// CHECK-LABEL: func.func @refused(%x: tensor<1x2x8xf32>, %w: tensor<8x8xf32>)
func.func @refused(%x: tensor<1x2x8xf32>, %w: tensor<8x8xf32>) -> tensor<1x2x8xf32> {
  // REMARK: relay.nn.dense: its data are not a matrix
  // CHECK: relay.nn.dense
  %y = relay.nn.dense(%x, %w) : (tensor<1x2x8xf32>, tensor<8x8xf32>) -> tensor<1x2x8xf32>
  func.return %y : tensor<1x2x8xf32>
}

// CHECK-LABEL: func.func @wide(%x: tensor<1x8xf16>, %w: tensor<8x8xf16>)
func.func @wide(%x: tensor<1x8xf16>, %w: tensor<8x8xf16>) -> tensor<1x8xf32> {
  // REMARK: relay.nn.dense: its result has another element type
  // CHECK: relay.nn.dense
  %y = relay.nn.dense(%x, %w) {out_dtype = f32} : (tensor<1x8xf16>, tensor<8x8xf16>) -> tensor<1x8xf32>
  func.return %y : tensor<1x8xf32>
}

// CHECK-LABEL: func.func @other_names(%x: tensor<1x8xf32>, %v: tensor<8x8xf32>)
func.func @other_names(%x: tensor<1x8xf32>, %v: tensor<8x8xf32>) -> tensor<1x8xf32> {
  // CHECK: relay.nn.dense
  %y = relay.nn.dense(%x, %v) : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
  func.return %y : tensor<1x8xf32>
}
