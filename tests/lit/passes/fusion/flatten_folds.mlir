// RUN: xrelay-opt %s -p relay-flatten-folds --split-input-file | filecheck %s

// The data of a single minimum or maximum becomes a row, which groups share.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %y = relay.fused @relu
// CHECK:         %0 = relay.reshape(%y) {newshape = [-1]} : (tensor<2x3x4xf32>) -> tensor<24xf32>
// CHECK-NEXT:    %l = relay.fused @min(%p = %0 : tensor<24xf32>) -> tensor<f32>
// CHECK-NEXT:      %1 = relay.min(%p) : (tensor<24xf32>) -> tensor<f32>
// CHECK:         %h = relay.fused @max(%s = %l : tensor<f32>, %p = %0 : tensor<24xf32>) -> tensor<f32>
// CHECK-NEXT:      %1 = relay.max(%p) : (tensor<24xf32>) -> tensor<f32>
// CHECK-NEXT:      relay.subtract(%1, %s)
func.func @main(%x: tensor<2x3x4xf32>) -> tensor<f32> {
  %y = relay.fused @relu(%p = %x : tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
    %0 = relay.nn.relu(%p) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    relay.yield %0 : tensor<2x3x4xf32>
  }
  %l = relay.fused @min(%p = %y : tensor<2x3x4xf32>) -> tensor<f32> {
    %0 = relay.min(%p) {axis = [0, 1, 2]} : (tensor<2x3x4xf32>) -> tensor<f32>
    relay.yield %0 : tensor<f32>
  }
  %h = relay.fused @max(%s = %l : tensor<f32>, %p = %y : tensor<2x3x4xf32>) -> tensor<f32> {
    %0 = relay.max(%p) : (tensor<2x3x4xf32>) -> tensor<f32>
    %1 = relay.subtract(%0, %s) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    relay.yield %1 : tensor<f32>
  }
  func.return %h : tensor<f32>
}

// -----

// A parameter of the function is reshaped at the start of its block, before all groups that read it.
// CHECK-LABEL: func.func @parameter
// CHECK-NEXT:    %0 = relay.reshape(%x)
// CHECK-NEXT:    relay.if
func.func @parameter(%x: tensor<2x3xi32>, %c: tensor<i1>) -> tensor<i32> {
  %y = relay.if %c : tensor<i1> -> tensor<i32> {
    %l = relay.fused @min(%p = %x : tensor<2x3xi32>) -> tensor<i32> {
      %0 = relay.min(%p) : (tensor<2x3xi32>) -> tensor<i32>
      relay.yield %0 : tensor<i32>
    }
    relay.yield %l : tensor<i32>
  } else {
    %h = relay.fused @max(%p = %x : tensor<2x3xi32>) -> tensor<i32> {
      %0 = relay.max(%p) : (tensor<2x3xi32>) -> tensor<i32>
      relay.yield %0 : tensor<i32>
    }
    relay.yield %h : tensor<i32>
  }
  func.return %y : tensor<i32>
}

// -----

// Left alone: a row, results of several elements or axes, unknown extents, and data that a group computes or reads twice.
// CHECK-LABEL: func.func @refused
// CHECK-NOT:     relay.reshape
func.func @refused(%r: tensor<8xf32>, %x: tensor<2x4xf32>, %n: tensor<?x4xf32, #relay.dims<n>>) {
  %0 = relay.fused @row(%p = %r : tensor<8xf32>) -> tensor<f32> {
    %1 = relay.min(%p) : (tensor<8xf32>) -> tensor<f32>
    relay.yield %1 : tensor<f32>
  }
  %1 = relay.fused @several(%p = %x : tensor<2x4xf32>) -> tensor<4xf32> {
    %2 = relay.min(%p) {axis = [0]} : (tensor<2x4xf32>) -> tensor<4xf32>
    relay.yield %2 : tensor<4xf32>
  }
  %2 = relay.fused @axes(%p = %x : tensor<2x4xf32>) -> tensor<1x1xf32> {
    %3 = relay.min(%p) {keepdims = true} : (tensor<2x4xf32>) -> tensor<1x1xf32>
    relay.yield %3 : tensor<1x1xf32>
  }
  %3 = relay.fused @open(%p = %n : tensor<?x4xf32, #relay.dims<n>>) -> tensor<f32> {
    %4 = relay.min(%p) : (tensor<?x4xf32, #relay.dims<n>>) -> tensor<f32>
    relay.yield %4 : tensor<f32>
  }
  %4 = relay.fused @computed(%p = %x : tensor<2x4xf32>) -> tensor<f32> {
    %5 = relay.nn.relu(%p) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %6 = relay.min(%5) : (tensor<2x4xf32>) -> tensor<f32>
    relay.yield %6 : tensor<f32>
  }
  %5 = relay.fused @twice(%p = %x : tensor<2x4xf32>) -> tensor<2x4xf32> {
    %6 = relay.min(%p) : (tensor<2x4xf32>) -> tensor<f32>
    %7 = relay.subtract(%p, %6) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    relay.yield %7 : tensor<2x4xf32>
  }
  func.return
}
