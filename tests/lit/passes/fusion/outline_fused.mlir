// RUN: xrelay-opt %s -p relay-outline-fused --split-input-file | filecheck %s

// Equal groups share one kernel; a group that yields its parameter copies it.
// CHECK-LABEL: func.func @shared
// CHECK-NEXT:    %[[A:.*]] = func.call @fused_nn_relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %[[B:.*]] = func.call @fused_nn_relu(%[[A]])
// CHECK-NEXT:    %[[C:.*]] = func.call @nothing(%[[B]])
// CHECK-NEXT:    func.return %[[C]]
// CHECK:       func.func private @fused_nn_relu(%p0: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive, relay.pattern = "kElemWise"} {
// CHECK-NEXT:    %[[R:.*]] = relay.nn.relu(%p0)
// CHECK-NEXT:    func.return %[[R]]
// CHECK:       func.func private @nothing
// CHECK-NEXT:    relay.cast(%p0) {dtype = f32}
// CHECK-NOT:   func.func
func.func @shared(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.fused @fused_nn_relu(%p0 = %x : tensor<4xf32>) -> tensor<4xf32> attributes {pattern = "kElemWise"} {
    %r = relay.nn.relu(%p0) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %r : tensor<4xf32>
  }
  %b = relay.fused @fused_nn_relu_1(%p0 = %a : tensor<4xf32>) -> tensor<4xf32> attributes {pattern = "kElemWise"} {
    %r = relay.nn.relu(%p0) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %r : tensor<4xf32>
  }
  %c = relay.fused @nothing(%p0 = %b : tensor<4xf32>) -> tensor<4xf32> {
    relay.yield %p0 : tensor<4xf32>
  }
  func.return %c : tensor<4xf32>
}

// -----

// Ops outside of groups become kernels; another attribute or shape makes another kernel.
// CHECK-LABEL: func.func @alone
// CHECK-NEXT:    %[[A:.*]] = func.call @fused_nn_softmax(%x)
// CHECK-NEXT:    %[[B:.*]] = func.call @fused_nn_softmax_1(%[[A]])
// CHECK-NEXT:    func.return %[[B]]
// CHECK:       func.func private @fused_nn_softmax({{.*}}relay.anchor = "nn.softmax"
// CHECK:       func.func private @fused_nn_softmax_1(
func.func @alone(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %k = relay.constant dense<1.0> : tensor<f32>
  %a = relay.nn.softmax(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %v = relay.let "v" = %a : tensor<4x4xf32>
  %b = relay.nn.softmax(%v) {axis = 0} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %b : tensor<4x4xf32>
}

// -----

// Tuples are flattened in parameters, results and calls.
// CHECK-LABEL: func.func @tuples
// CHECK-SAME: (%[[T0:.*]]: tensor<4xf32>, %[[T1:.*]]: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
// CHECK-NEXT:    %[[S:.*]], %[[S1:.*]] = func.call @fused_split(%[[T0]]) : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
// CHECK-NEXT:    %[[R:.*]] = func.call @fused_nn_relu(%[[S1]])
// CHECK-NEXT:    %[[C:.*]] = func.call @fused_cast(%[[T1]])
// CHECK-NEXT:    func.return %[[S]], %[[R]], %[[C]]
// CHECK:       func.func private @fused_split(%p0: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
// CHECK-NEXT:    %[[T:.*]] = relay.split(%p0)
// CHECK-NEXT:    %[[I:.*]] = relay.tuple_get_item(%[[T]]) {index = 0}
// CHECK-NEXT:    %[[J:.*]] = relay.tuple_get_item(%[[T]]) {index = 1}
// CHECK-NEXT:    func.return %[[I]], %[[J]]
func.func @tuples(%t: tuple<tensor<4xf32>, tensor<2xf32>>) -> tuple<tuple<tensor<2xf32>, tensor<2xf32>>, tensor<2xf32>> {
  %x = relay.tuple_get_item(%t) {index = 0} : (tuple<tensor<4xf32>, tensor<2xf32>>) -> tensor<4xf32>
  %y = relay.tuple_get_item(%t) {index = 1} : (tuple<tensor<4xf32>, tensor<2xf32>>) -> tensor<2xf32>
  %s = relay.split(%x) {indices_or_sections = 2} : (tensor<4xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  %a = relay.tuple_get_item(%s) {index = 0} : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
  %b = relay.tuple_get_item(%s) {index = 1} : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
  %c = relay.nn.relu(%b) : (tensor<2xf32>) -> tensor<2xf32>
  %p = relay.tuple(%a, %c) : (tensor<2xf32>, tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  %r = relay.tuple(%p, %y) : (tuple<tensor<2xf32>, tensor<2xf32>>, tensor<2xf32>) -> tuple<tuple<tensor<2xf32>, tensor<2xf32>>, tensor<2xf32>>
  func.return %r : tuple<tuple<tensor<2xf32>, tensor<2xf32>>, tensor<2xf32>>
}

// -----

// A parameter, a constant, and a value returned twice get their own buffers.
// CHECK-LABEL: func.func @buffers
// CHECK-NEXT:    %[[K:.*]] = relay.constant
// CHECK-NEXT:    %[[R:.*]] = func.call @fused_nn_relu(%x)
// CHECK-NEXT:    %[[X:.*]] = func.call @fused_cast(%x)
// CHECK-NEXT:    %[[C:.*]] = func.call @fused_cast(%[[K]])
// CHECK-NEXT:    %[[D:.*]] = func.call @fused_cast(%[[R]])
// CHECK-NEXT:    func.return %[[X]], %[[C]], %[[R]], %[[D]]
func.func @buffers(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %k = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %r = relay.nn.relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %x, %k, %r, %r : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// A tuple parameter of a group is rebuilt inside its kernel.
// CHECK-LABEL: func.func @rebuilt
// CHECK-NEXT:    func.call @join(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
// CHECK:       func.func private @join(%[[P:.*]]: tensor<2xf32>, %[[Q:.*]]: tensor<3xf32>) -> tensor<5xf32>
// CHECK-NEXT:    %[[T:.*]] = relay.tuple(%[[P]], %[[Q]])
// CHECK-NEXT:    relay.concatenate(%[[T]])
func.func @rebuilt(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<5xf32> {
  %t = relay.tuple(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> tuple<tensor<2xf32>, tensor<3xf32>>
  %r = relay.fused @join(%p0 = %t : tuple<tensor<2xf32>, tensor<3xf32>>) -> tensor<5xf32> {
    %c = relay.concatenate(%p0) : (tuple<tensor<2xf32>, tensor<3xf32>>) -> tensor<5xf32>
    relay.yield %c : tensor<5xf32>
  }
  func.return %r : tensor<5xf32>
}

// -----

// A constant of several elements is a kernel argument, so groups that differ only in it share one kernel.
// CHECK-LABEL: func.func @constants
// CHECK-NEXT:    %[[K:.*]] = relay.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK-NEXT:    %[[A:.*]] = func.call @scale(%x, %[[K]])
// CHECK-NEXT:    %[[L:.*]] = relay.constant dense<[3.000000e+00, 4.000000e+00]>
// CHECK-NEXT:    %[[B:.*]] = func.call @scale(%[[A]], %[[L]])
// CHECK-NEXT:    func.return %[[B]]
// CHECK:       func.func private @scale(%p0: tensor<2xf32>, %k: tensor<2xf32>)
// CHECK-NEXT:    %{{.*}} = relay.constant dense<5.000000e-01>
// CHECK-NOT:   func.func
func.func @constants(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = relay.fused @scale(%p0 = %x : tensor<2xf32>) -> tensor<2xf32> {
    %h = relay.constant dense<0.5> : tensor<f32>
    %k = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %m = relay.multiply(%p0, %k) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %r = relay.multiply(%m, %h) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    relay.yield %r : tensor<2xf32>
  }
  %b = relay.fused @scale_1(%p0 = %a : tensor<2xf32>) -> tensor<2xf32> {
    %h = relay.constant dense<0.5> : tensor<f32>
    %k = relay.constant dense<[3.0, 4.0]> : tensor<2xf32>
    %m = relay.multiply(%p0, %k) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %r = relay.multiply(%m, %h) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    relay.yield %r : tensor<2xf32>
  }
  func.return %b : tensor<2xf32>
}
