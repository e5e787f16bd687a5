// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @concatenate(
func.func @concatenate(%t: tuple<tensor<1x4xf32>, tensor<2x4xf32>>) {
  // CHECK: %r = relay.concatenate(%t) : (tuple<tensor<1x4xf32>, tensor<2x4xf32>>) -> tensor<3x4xf32>
  %r = relay.concatenate(%t) : (tuple<tensor<1x4xf32>, tensor<2x4xf32>>) -> tensor<3x4xf32>
  func.return
}

// CHECK-LABEL: @concatenate_axis(
func.func @concatenate_axis(%t: tuple<tensor<1x4xf32>, tensor<1x8xf32>>) {
  // CHECK: %r = relay.concatenate(%t) {axis = -1} : (tuple<tensor<1x4xf32>, tensor<1x8xf32>>) -> tensor<1x12xf32>
  %r = relay.concatenate(%t) {axis = -1} : (tuple<tensor<1x4xf32>, tensor<1x8xf32>>) -> tensor<1x12xf32>
  func.return
}

// CHECK-LABEL: @concatenate_named(
func.func @concatenate_named(%t: tuple<tensor<?x4xf32, #relay.dims<n>>, tensor<?x4xf32, #relay.dims<m>>>) {
  // CHECK: %r = relay.concatenate(%t) : (tuple<tensor<?x4xf32, #relay.dims<n>>, tensor<?x4xf32, #relay.dims<m>>>) -> tensor<?x4xf32, #relay.dims<m + n>>
  %r = relay.concatenate(%t) : (tuple<tensor<?x4xf32, #relay.dims<n>>, tensor<?x4xf32, #relay.dims<m>>>) -> tensor<?x4xf32, #relay.dims<m + n>>
  func.return
}

// CHECK-LABEL: @split_sections(
func.func @split_sections(%x: tensor<1x6xf32>) {
  // CHECK: %r = relay.split(%x) {indices_or_sections = 2, axis = 1} : (tensor<1x6xf32>) -> tuple<tensor<1x3xf32>, tensor<1x3xf32>>
  %r = relay.split(%x) {indices_or_sections = 2, axis = 1} : (tensor<1x6xf32>) -> tuple<tensor<1x3xf32>, tensor<1x3xf32>>
  func.return
}

// CHECK-LABEL: @split_indices(
func.func @split_indices(%x: tensor<6x2xf32>) {
  // CHECK: %r = relay.split(%x) {indices_or_sections = [2, 5]} : (tensor<6x2xf32>) -> tuple<tensor<2x2xf32>, tensor<3x2xf32>, tensor<1x2xf32>>
  %r = relay.split(%x) {indices_or_sections = [2, 5]} : (tensor<6x2xf32>) -> tuple<tensor<2x2xf32>, tensor<3x2xf32>, tensor<1x2xf32>>
  func.return
}

// CHECK-LABEL: @split_named(
func.func @split_named(%x: tensor<?xf32, #relay.dims<n>>) {
  // CHECK: %r = relay.split(%x) {indices_or_sections = [2]} : (tensor<?xf32, #relay.dims<n>>) -> tuple<tensor<2xf32>, tensor<?xf32, #relay.dims<n - 2>>>
  %r = relay.split(%x) {indices_or_sections = [2]} : (tensor<?xf32, #relay.dims<n>>) -> tuple<tensor<2xf32>, tensor<?xf32, #relay.dims<n - 2>>>
  func.return
}
