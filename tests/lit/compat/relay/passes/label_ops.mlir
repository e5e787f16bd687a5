// RUN: xrelay-opt %s -p relay-label-ops | filecheck %s
// RUN: xrelay-opt %s -p relay-label-ops,relay-label-ops | filecheck %s

// Groups that compute the same have one label, whatever they are called; layouts are those of a function's own operators.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    attributes {hash = "[[MAIN:[0-9a-f]+]]"}
// CHECK:         relay.fused @first(
// CHECK-SAME:      attributes {hash = "[[CONV:[0-9a-f]+]]", data_layout = "NCHW", kernel_layout = "OIHW", out_layout = ""}
// CHECK:         relay.fused @second(
// CHECK-SAME:      attributes {hash = "[[CONV]]", data_layout = "NCHW", kernel_layout = "OIHW", out_layout = ""}
// CHECK:         relay.fn(%{{.*}}: tensor<1x4x8x8xf32>)
// CHECK-SAME:      attributes {hash = "{{[0-9a-f]+}}"}
// CHECK:         relay.fn(%{{.*}}: tensor<1x4x8x8xf32>)
// CHECK-SAME:      attributes {hash = "mine"}
func.func @main(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32> {
  %y = relay.fused @first(%p0 = %x : tensor<1x4x8x8xf32>, %p1 = %w : tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32> {
    %c = relay.nn.conv2d(%p0, %p1) {channels = 4, kernel_size = [1, 1]} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
    relay.yield %c : tensor<1x4x8x8xf32>
  }
  %z = relay.fused @second(%a = %y : tensor<1x4x8x8xf32>, %b = %w : tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32> {
    %d = relay.nn.conv2d(%a, %b) {channels = 4, kernel_size = [1, 1]} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
    relay.yield %d : tensor<1x4x8x8xf32>
  }
  %f = relay.fn(%a: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
    %e = relay.exp(%a) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    relay.yield %e : tensor<1x4x8x8xf32>
  }
  %g = relay.fn(%a: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> attributes {hash = "mine"} {
    relay.yield %a : tensor<1x4x8x8xf32>
  }
  %u = relay.invoke %f(%z) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %v = relay.invoke %g(%u) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  func.return %v : tensor<1x4x8x8xf32>
}

// CHECK:       func.func private @kernel(%p: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive, hash = "[[KERNEL:[0-9a-f]+]]"}
func.func private @kernel(%p: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %n = relay.nn.relu(%p) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %n : tensor<4xf32>
}
// CHECK:       func.func private @other(%q: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive, hash = "[[KERNEL]]"}
func.func private @other(%q: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %unused = relay.exp(%q) : (tensor<4xf32>) -> tensor<4xf32>
  %n = relay.nn.relu(%q) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %n : tensor<4xf32>
}
// CHECK:       func.func private @declared(tensor<4xf32>) -> tensor<4xf32>{{$}}
func.func private @declared(tensor<4xf32>) -> tensor<4xf32>
