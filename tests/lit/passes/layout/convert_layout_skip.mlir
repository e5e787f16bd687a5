// RUN: xrelay-opt %s -p 'relay-convert-layout{desired-layouts="nn.conv2d:HWNC" skip-layers=0}' --remarks 2>&1 | filecheck %s

// CHECK: remark: relay-convert-layout: relay.nn.conv2d: its number is among skip_layers
// CHECK-LABEL: @main(
// CHECK-NEXT:    %[[W:.*]] = relay.layout_transform(%w) {src_layout = "OIHW", dst_layout = "HWOI"}
// CHECK-NEXT:    %[[A:.*]] = relay.nn.conv2d(%x, %v) : (tensor<1x4x6x6xf32>, tensor<4x4x3x3xf32>)
// CHECK-NEXT:    %[[R:.*]] = relay.nn.relu(%[[A]])
// CHECK-NEXT:    %[[X:.*]] = relay.layout_transform(%[[R]]) {src_layout = "NCHW", dst_layout = "HWNC"}
// CHECK-NEXT:    relay.nn.conv2d(%[[X]], %[[W]]) {data_layout = "HWNC", kernel_layout = "HWOI"} {{.*}} -> tensor<2x2x1x8xf32>
func.func @main(%x: tensor<1x4x6x6xf32>, %v: tensor<4x4x3x3xf32>, %w: tensor<8x4x3x3xf32>) -> tensor<1x8x2x2xf32> {
  %a = relay.nn.conv2d(%x, %v) : (tensor<1x4x6x6xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x4x4xf32>
  %r = relay.nn.relu(%a) : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %b = relay.nn.conv2d(%r, %w) : (tensor<1x4x4x4xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x2x2xf32>
  func.return %b : tensor<1x8x2x2xf32>
}
