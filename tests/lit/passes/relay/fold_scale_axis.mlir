// RUN: xrelay-opt %s -p relay-fold-scale-axis,relay-dead-code-elimination | filecheck %s
// RUN: xrelay-opt %s -p 'relay-fold-scale-axis{weights=any},relay-dead-code-elimination' | filecheck %s --check-prefix ANY
// RUN: not xrelay-opt %s -p 'relay-fold-scale-axis{weights=some}' 2>&1 | filecheck %s --check-prefix SOME

// SOME: error: relay-fold-scale-axis: weights is 'some'; help: it is constant or any

// After a convolution, through an addition: weight and bias are scaled.
// CHECK-LABEL: func.func @backward
// CHECK-NEXT:    %[[W:.*]] = relay.constant dense<{{\[\[\[\[}}2.000000e+00]]], {{\[\[\[}}4.000000e+00]]]]> : tensor<2x1x1x1xf32>
// CHECK-NEXT:    %[[C:.*]] = relay.nn.conv2d(%x, %[[W]])
// CHECK-NEXT:    %[[B:.*]] = relay.constant dense<{{\[\[\[}}6.000000e+00]], {{\[\[}}1.200000e+01]]]> : tensor<2x1x1xf32>
// CHECK-NEXT:    %[[Y:.*]] = relay.add(%[[C]], %[[B]])
// CHECK-NEXT:    func.return %[[Y]]
func.func @backward(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = relay.constant dense<1.0> : tensor<2x1x1x1xf32>
  %b = relay.constant dense<3.0> : tensor<2x1x1xf32>
  %s = relay.constant dense<[[[2.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %c = relay.nn.conv2d(%x, %w) : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %d = relay.add(%c, %b) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %y = relay.multiply(%d, %s) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  func.return %y : tensor<1x2x4x4xf32>
}

// After a dense layer, through a bias and a relu: the factors are positive.
// CHECK-LABEL: func.func @dense
// CHECK-NEXT:    %[[W:.*]] = relay.constant dense<{{\[\[}}2.000000e+00, 2.000000e+00], [3.000000e+00, 3.000000e+00]]>
// CHECK-NEXT:    relay.nn.dense(%x, %[[W]])
// CHECK-NEXT:    %[[B:.*]] = relay.constant dense<[2.000000e+00, 3.000000e+00]>
// CHECK-NEXT:    relay.nn.bias_add(%{{.*}}, %[[B]])
// CHECK-NEXT:    %[[R:.*]] = relay.nn.relu
// CHECK-NEXT:    func.return %[[R]]
func.func @dense(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %w = relay.constant dense<1.0> : tensor<2x2xf32>
  %b = relay.constant dense<1.0> : tensor<2xf32>
  %s = relay.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %c = relay.nn.dense(%x, %w) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %d = relay.nn.bias_add(%c, %b) : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  %r = relay.nn.relu(%d) : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %y = relay.multiply(%r, %s) : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  func.return %y : tensor<1x2xf32>
}

// Before a convolution: along the in-channels. Two consecutive factors are one.
// CHECK-LABEL: func.func @forward
// CHECK-NEXT:    %[[W:.*]] = relay.constant dense<{{\[\[\[\[}}6.000000e+00]], {{\[\[}}1.000000e+01]]]]> : tensor<1x2x1x1xf32>
// CHECK-NEXT:    %[[Y:.*]] = relay.nn.conv2d(%x, %[[W]])
// CHECK-NEXT:    func.return %[[Y]]
func.func @forward(%x: tensor<1x2x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %w = relay.constant dense<1.0> : tensor<1x2x1x1xf32>
  %s = relay.constant dense<[[[3.0]], [[5.0]]]> : tensor<2x1x1xf32>
  %two = relay.constant dense<2.0> : tensor<f32>
  %m = relay.multiply(%x, %s) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %n = relay.multiply(%m, %two) : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %y = relay.nn.conv2d(%n, %w) : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x4x4xf32>
  func.return %y : tensor<1x1x4x4xf32>
}

// Rejected: a negative factor across a relu, a value used twice, a computed weight, a factor along the height.
// CHECK-LABEL: func.func @refused
// CHECK:         %[[R:.*]] = relay.nn.relu
// CHECK-NEXT:    relay.multiply(%[[R]]
// CHECK:         relay.multiply(%twice
// CHECK:         relay.multiply(%variable
// CHECK:         relay.multiply(%height
func.func @refused(%x: tensor<1x1x2x2xf32>, %v: tensor<1x1x1x1xf32>) -> tuple<tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>> {
  %w = relay.constant dense<1.0> : tensor<1x1x1x1xf32>
  %s = relay.constant dense<-1.0> : tensor<f32>
  %h = relay.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %c = relay.nn.conv2d(%x, %w) : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %r = relay.nn.relu(%c) : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  %a = relay.multiply(%r, %s) : (tensor<1x1x2x2xf32>, tensor<f32>) -> tensor<1x1x2x2xf32>
  %twice = relay.nn.conv2d(%a, %w) : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %b = relay.multiply(%twice, %s) : (tensor<1x1x2x2xf32>, tensor<f32>) -> tensor<1x1x2x2xf32>
  %variable = relay.nn.conv2d(%x, %v) : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %d = relay.multiply(%variable, %s) : (tensor<1x1x2x2xf32>, tensor<f32>) -> tensor<1x1x2x2xf32>
  %height = relay.nn.conv2d(%x, %w) : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %e = relay.multiply(%height, %h) : (tensor<1x1x2x2xf32>, tensor<2x1xf32>) -> tensor<1x1x2x2xf32>
  %t = relay.tuple(%a, %b, %d, %e, %twice) : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> tuple<tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>>
  func.return %t : tuple<tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>>
}

// Volumes and signals are treated like images.
// CHECK-LABEL: @volumes(
// CHECK:         %[[W:.*]] = relay.constant dense<6.000000e+00> : tensor<4x2x1x1x1xf32>
// CHECK-NEXT:    %[[C:.*]] = relay.nn.conv3d(%x, %[[W]])
// CHECK-NEXT:    %[[P:.*]] = relay.nn.max_pool3d(%[[C]])
// CHECK-NEXT:    func.return %[[P]]
func.func @volumes(%x: tensor<1x2x2x4x4xf32>) -> tensor<1x4x1x2x2xf32> {
  %w = relay.constant dense<2.0> : tensor<4x2x1x1x1xf32>
  %s = relay.constant dense<3.0> : tensor<4x1x1x1xf32>
  %c = relay.nn.conv3d(%x, %w) : (tensor<1x2x2x4x4xf32>, tensor<4x2x1x1x1xf32>) -> tensor<1x4x2x4x4xf32>
  %p = relay.nn.max_pool3d(%c) {pool_size = [2, 2, 2], strides = [2, 2, 2]} : (tensor<1x4x2x4x4xf32>) -> tensor<1x4x1x2x2xf32>
  %y = relay.multiply(%p, %s) : (tensor<1x4x1x2x2xf32>, tensor<4x1x1x1xf32>) -> tensor<1x4x1x2x2xf32>
  func.return %y : tensor<1x4x1x2x2xf32>
}

// CHECK-LABEL: @signals(
// CHECK:         %[[W:.*]] = relay.constant dense<{{\[\[\[2.0.*\], \[6.0.*\]\]\]}}> : tensor<1x2x1xf32>
// CHECK-NEXT:    relay.nn.conv1d(%x, %[[W]])
// CHECK-NOT:     relay.multiply
func.func @signals(%x: tensor<1x2x5xf32>) -> tensor<1x1x5xf32> {
  %w = relay.constant dense<2.0> : tensor<1x2x1xf32>
  %s = relay.constant dense<[[1.0], [3.0]]> : tensor<2x1xf32>
  %m = relay.multiply(%x, %s) : (tensor<1x2x5xf32>, tensor<2x1xf32>) -> tensor<1x2x5xf32>
  %c = relay.nn.conv1d(%m, %w) : (tensor<1x2x5xf32>, tensor<1x2x1xf32>) -> tensor<1x1x5xf32>
  func.return %c : tensor<1x1x5xf32>
}

// Both weights are scaled.
// CHECK-LABEL: @shared(
// CHECK-NOT:     relay.multiply
// CHECK:         %[[V:.*]] = relay.constant dense<6.000000e+00> : tensor<3x2x1x1xf32>
// CHECK:         relay.nn.conv2d(%x, %[[V]])
// CHECK-NOT:     relay.multiply
// CHECK:         %[[W:.*]] = relay.constant dense<1.500000e+01> : tensor<4x2x1x1xf32>
// CHECK:         relay.nn.conv2d(%x, %[[W]])
// CHECK-NOT:     relay.multiply
func.func @shared(%x: tensor<1x2x4x4xf32>) -> (tensor<1x3x4x4xf32>, tensor<1x4x4x4xf32>) {
  %v = relay.constant dense<2.0> : tensor<3x2x1x1xf32>
  %w = relay.constant dense<5.0> : tensor<4x2x1x1xf32>
  %s = relay.constant dense<3.0> : tensor<2x1x1xf32>
  %m = relay.multiply(%x, %s) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %a = relay.nn.conv2d(%m, %v) : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x4x4xf32>
  %b = relay.nn.conv2d(%m, %w) : (tensor<1x2x4x4xf32>, tensor<4x2x1x1xf32>) -> tensor<1x4x4x4xf32>
  func.return %a, %b : tensor<1x3x4x4xf32>, tensor<1x4x4x4xf32>
}

// Left alone: the product is a result, too.
// CHECK-LABEL: @shared_with_others(
// CHECK:         %[[M:.*]] = relay.multiply(%x, %s)
// CHECK:         relay.nn.conv2d(%[[M]], %v)
// CHECK:         func.return %{{.*}}, %[[M]]
func.func @shared_with_others(%x: tensor<1x2x4x4xf32>) -> (tensor<1x3x4x4xf32>, tensor<1x2x4x4xf32>) {
  %v = relay.constant dense<2.0> : tensor<3x2x1x1xf32>
  %s = relay.constant dense<3.0> : tensor<2x1x1xf32>
  %m = relay.multiply(%x, %s) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %a = relay.nn.conv2d(%m, %v) : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x4x4xf32>
  func.return %a, %m : tensor<1x3x4x4xf32>, tensor<1x2x4x4xf32>
}

// The convolutions may share the ops between; one of them has a filter per channel.
// CHECK-LABEL: @shared_behind_relu(
// CHECK-NOT:     relay.multiply
// CHECK:         %[[B:.*]] = relay.constant dense<{{\[\[\[}}2.000000e+00]], {{\[\[}}1.500000e+00]]]> : tensor<2x1x1xf32>
// CHECK:         %[[A:.*]] = relay.subtract(%x, %[[B]])
// CHECK:         %[[R:.*]] = relay.nn.relu(%[[A]])
// CHECK:         %[[W:.*]] = relay.constant dense<{{\[\[\[\[}}3.000000e+00]], {{\[\[}}4.000000e+00]]]]> : tensor<1x2x1x1xf32>
// CHECK:         relay.nn.conv2d(%[[R]], %[[W]])
// CHECK:         %[[F:.*]] = relay.constant dense<{{\[\[\[\[}}6.000000e+00]]], {{\[\[\[}}8.000000e+00]]]]> : tensor<2x1x1x1xf32>
// CHECK:         relay.nn.conv2d(%[[R]], %[[F]]) {groups = 2}
func.func @shared_behind_relu(%x: tensor<1x2x4x4xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x2x4x4xf32>) {
  %v = relay.constant dense<1.0> : tensor<1x2x1x1xf32>
  %w = relay.constant dense<2.0> : tensor<2x1x1x1xf32>
  %b = relay.constant dense<6.0> : tensor<2x1x1xf32>
  %s = relay.constant dense<[[[3.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %m = relay.multiply(%x, %s) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %d = relay.subtract(%m, %b) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %r = relay.nn.relu(%d) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %y = relay.nn.conv2d(%r, %v) : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x4x4xf32>
  %z = relay.nn.conv2d(%r, %w) {groups = 2} : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  func.return %y, %z : tensor<1x1x4x4xf32>, tensor<1x2x4x4xf32>
}

// Left alone: another op reads the value between.
// CHECK-LABEL: @relu_for_others(
// CHECK:         relay.multiply(%x, %s)
// CHECK:         %[[R:.*]] = relay.nn.relu
// CHECK:         func.return %{{.*}}, %[[R]]
func.func @relu_for_others(%x: tensor<1x2x4x4xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x2x4x4xf32>) {
  %v = relay.constant dense<1.0> : tensor<1x2x1x1xf32>
  %s = relay.constant dense<3.0> : tensor<2x1x1xf32>
  %m = relay.multiply(%x, %s) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %r = relay.nn.relu(%m) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %y = relay.nn.conv2d(%r, %v) : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x4x4xf32>
  func.return %y, %r : tensor<1x1x4x4xf32>, tensor<1x2x4x4xf32>
}

// A difference after a convolution is scaled as a whole.
// CHECK-LABEL: @difference(
// CHECK-NOT:     relay.multiply
// CHECK:         %[[B:.*]] = relay.constant dense<1.000000e+01> : tensor<1x1x1xf32>
// CHECK:         relay.subtract(%[[B]], %{{.*}})
func.func @difference(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %w = relay.constant dense<3.0> : tensor<1x1x1x1xf32>
  %b = relay.constant dense<5.0> : tensor<1x1x1xf32>
  %s = relay.constant dense<2.0> : tensor<1x1x1xf32>
  %c = relay.nn.conv2d(%x, %w) : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %d = relay.subtract(%b, %c) : (tensor<1x1x1xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  %y = relay.multiply(%d, %s) : (tensor<1x1x4x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4x4xf32>
  func.return %y : tensor<1x1x4x4xf32>
}

// An addend between a factor and a convolution is divided by the factor, unless that is 0.
// CHECK-LABEL: func.func @divided
// CHECK:         %[[B:.*]] = relay.constant dense<{{\[\[\[}}2.000000e+00]], {{\[\[}}1.500000e+00]]]> : tensor<2x1x1xf32>
// CHECK:         %[[A:.*]] = relay.add(%x, %[[B]])
// CHECK:         %[[R:.*]] = relay.nn.relu(%[[A]])
// CHECK:         %[[W:.*]] = relay.constant dense<{{\[\[\[\[}}3.000000e+00]], {{\[\[}}4.000000e+00]]]]>
// CHECK:         relay.nn.conv2d(%[[R]], %[[W]])
// CHECK:         %[[Z:.*]] = relay.multiply(%x
// CHECK:         relay.add(%[[Z]]
func.func @divided(%x: tensor<1x2x4x4xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) {
  %w = relay.constant dense<1.0> : tensor<1x2x1x1xf32>
  %b = relay.constant dense<6.0> : tensor<2x1x1xf32>
  %s = relay.constant dense<[[[3.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %m = relay.multiply(%x, %s) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %a = relay.add(%m, %b) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %r = relay.nn.relu(%a) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %y = relay.nn.conv2d(%r, %w) : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x4x4xf32>
  %zero = relay.constant dense<[[[3.0]], [[0.0]]]> : tensor<2x1x1xf32>
  %n = relay.multiply(%x, %zero) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %d = relay.add(%n, %b) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %z = relay.nn.conv2d(%d, %w) : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x4x4xf32>
  func.return %y, %z : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
}

// Weights and biases that are parameters, after and before factors.
// CHECK-LABEL: func.func @parameters
// CHECK:         relay.nn.conv2d(%x, %w)
// ANY-LABEL:   func.func @parameters
// ANY:           %[[Q:.*]] = relay.squeeze(%{{.*}}) {axis = [1, 2]} : (tensor<2x1x1xf32>) -> tensor<2xf32>
// ANY:           %[[E:.*]] = relay.expand_dims(%[[Q]]) {axis = 1, num_newaxis = 3}
// ANY:           %[[W:.*]] = relay.multiply(%w, %[[E]])
// ANY:           %[[C:.*]] = relay.nn.conv2d(%x, %[[W]])
// ANY:           %[[F:.*]] = relay.expand_dims(%[[Q]]) {axis = 1, num_newaxis = 2}
// ANY:           %[[B:.*]] = relay.multiply(%b, %[[F]])
// ANY:           relay.add(%[[C]], %[[B]])
// ANY:           relay.divide(%b,
// ANY:           relay.add(%{{.*}}
// ANY:           relay.multiply(%v,
// ANY-NOT:       relay.multiply
// ANY:           func.return
func.func @parameters(%x: tensor<1x3x4x4xf32>, %w: tensor<2x3x1x1xf32>, %b: tensor<2x1x1xf32>, %v: tensor<5x2x1x1xf32>) -> tensor<1x5x4x4xf32> {
  %s = relay.constant dense<[[[2.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %t = relay.constant dense<[[[0.5]], [[3.0]]]> : tensor<2x1x1xf32>
  %c = relay.nn.conv2d(%x, %w) : (tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x4x4xf32>
  %d = relay.add(%c, %b) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %y = relay.multiply(%d, %s) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %r = relay.sqrt(%y) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %m = relay.multiply(%r, %t) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %a = relay.add(%m, %b) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %z = relay.nn.conv2d(%a, %v) : (tensor<1x2x4x4xf32>, tensor<5x2x1x1xf32>) -> tensor<1x5x4x4xf32>
  func.return %z : tensor<1x5x4x4xf32>
}
