// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @dense(
func.func @dense(%x: tensor<?x12xf32, #relay.dims<n>>, %w: tensor<2x6x16x2xf32>) {
  // CHECK: relay.nn.contrib_split_floats(%x) : (tensor<?x12xf32, #relay.dims<n>>) -> tensor<2x?x12xbf16, #relay.dims<n>>
  %a = relay.nn.contrib_split_floats(%x) : (tensor<?x12xf32, #relay.dims<n>>) -> tensor<2x?x12xbf16, #relay.dims<n>>
  %b = relay.nn.contrib_split_floats(%w) : (tensor<2x6x16x2xf32>) -> tensor<2x2x6x16x2xbf16>
  // CHECK: relay.nn.contrib_dense_split(%a, %b) {units = 30} : (tensor<2x?x12xbf16, #relay.dims<n>>, tensor<2x2x6x16x2xbf16>) -> tensor<?x30xf32, #relay.dims<n>>
  %y = relay.nn.contrib_dense_split(%a, %b) {units = 30} : (tensor<2x?x12xbf16, #relay.dims<n>>, tensor<2x2x6x16x2xbf16>) -> tensor<?x30xf32, #relay.dims<n>>
  func.return
}

// CHECK-LABEL: @conv(
func.func @conv(%x: tensor<?x3x9x9x16xf32, #relay.dims<n>>, %w: tensor<2x64x3x3x16x2xbf16>) {
  // CHECK: relay.nn.contrib_conv2d_split(%x, %w) {strides = [2, 2], data_layout = "NCHW16c", kernel_layout = "OIHW16o2i"} : (tensor<?x3x9x9x16xf32, #relay.dims<n>>, tensor<2x64x3x3x16x2xbf16>) -> tensor<?x2x4x4x16xf32, #relay.dims<n>>
  %y = relay.nn.contrib_conv2d_split(%x, %w) {strides = [2, 2], data_layout = "NCHW16c", kernel_layout = "OIHW16o2i"} : (tensor<?x3x9x9x16xf32, #relay.dims<n>>, tensor<2x64x3x3x16x2xbf16>) -> tensor<?x2x4x4x16xf32, #relay.dims<n>>
  func.return
}
