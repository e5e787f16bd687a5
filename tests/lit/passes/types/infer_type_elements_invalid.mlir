// RUN: xrelay-opt %s -p relay-infer-type --split-input-file --verify-diagnostics

func.func @twice_what_remains(%x: tensor<2x6xf32>) -> !relay.incomplete {
  %s = relay.constant dense<[-1, -1]> : tensor<2xi64>
  // expected-error@below {{[relay.dyn.reshape C2] the shape (-1, -1) has -1 twice}}
  %r = relay.dyn.reshape(%x, %s) : (tensor<2x6xf32>, tensor<2xi64>) -> !relay.incomplete
  func.return %r : !relay.incomplete
}

// -----

func.func @other_count(%x: tensor<2x6xf32>) -> !relay.incomplete {
  %s = relay.constant dense<[3, 5]> : tensor<2xi64>
  // expected-error@below {{[relay.dyn.reshape C3] element counts of (2, 6) and (3, 5) differ: 12 != 15}}
  %r = relay.dyn.reshape(%x, %s) : (tensor<2x6xf32>, tensor<2xi64>) -> !relay.incomplete
  func.return %r : !relay.incomplete
}

// -----

func.func @no_common_shape(%x: tensor<3x4xf32>) -> !relay.incomplete {
  %s = relay.constant dense<[2, 4]> : tensor<2xi64>
  // expected-error@below {{[relay.dyn.broadcast_to C2] an extent of 3 does not broadcast to 2}}
  %r = relay.dyn.broadcast_to(%x, %s) : (tensor<3x4xf32>, tensor<2xi64>) -> !relay.incomplete
  func.return %r : !relay.incomplete
}

// -----

func.func @negative(%x: tensor<f32>) -> !relay.incomplete {
  %s = relay.constant dense<[2, -4]> : tensor<2xi64>
  // expected-error@below {{[relay.dyn.full C2] the shape has the extent -4}}
  %r = relay.dyn.full(%x, %s) : (tensor<f32>, tensor<2xi64>) -> !relay.incomplete
  func.return %r : !relay.incomplete
}

// -----

func.func @no_step(%x: tensor<8xf32>, %b: tensor<1xi64>) {
  %s = relay.constant dense<[0]> : tensor<1xi64>
  // expected-error@below {{[relay.dyn.strided_slice C2] a stride is 0}}
  %r = relay.dyn.strided_slice(%x, %b, %b, %s) : (tensor<8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> !relay.incomplete
  func.return
}

// -----

func.func @negative_repetitions(%x: tensor<8xf32>) {
  %r = relay.constant dense<[-2]> : tensor<1xi64>
  // expected-error@below {{[relay.dyn.tile C2] the repetitions include -2}}
  %y = relay.dyn.tile(%x, %r) : (tensor<8xf32>, tensor<1xi64>) -> !relay.incomplete
  func.return
}

// -----

func.func @nothing_to_repeat(%x: tensor<0xf32>, %v: tensor<f32>) -> !relay.incomplete {
  %c = relay.constant dense<[[0, 1]]> : tensor<1x2xi64>
  // expected-error@below {{[relay.dyn.nn.pad C4] mode 'edge' cannot pad an extent of 0 by 1}}
  %r = relay.dyn.nn.pad(%x, %c, %v) {pad_mode = "edge"} : (tensor<0xf32>, tensor<1x2xi64>, tensor<f32>) -> !relay.incomplete
  func.return %r : !relay.incomplete
}

// -----

func.func @sizes(%x: tensor<4xf32>, %b: tensor<1xi64>) {
  %n = relay.constant dense<5> : tensor<1xi64>
  // expected-error@below {{[relay.dyn.strided_slice C3] elements of the axis, and those taken 4 is less than 5}}
  %y = relay.dyn.strided_slice(%x, %b, %n, %b) {slice_mode = "size"} : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> !relay.incomplete
  func.return
}

// -----

func.func @sparse_reshape(%i: tensor<4x2xi64>) {
  %p = relay.constant dense<[2, 5]> : tensor<2xi64>
  %n = relay.constant dense<[3, -1]> : tensor<2xi64>
  // expected-error@below {{[relay.sparse_reshape C3] 10 elements modulo 3: 1 != 0}}
  %y = relay.sparse_reshape(%i, %p, %n) : (tensor<4x2xi64>, tensor<2xi64>, tensor<2xi64>) -> !relay.incomplete
  func.return
}

// -----

func.func @sparse_reshape_twice(%i: tensor<4x2xi64>) {
  %p = relay.constant dense<[2, 5]> : tensor<2xi64>
  %n = relay.constant dense<[-1, -1]> : tensor<2xi64>
  // expected-error@below {{[relay.sparse_reshape C2] the shape (-1, -1) has -1 twice}}
  %y = relay.sparse_reshape(%i, %p, %n) : (tensor<4x2xi64>, tensor<2xi64>, tensor<2xi64>) -> !relay.incomplete
  func.return
}

// -----

func.func @sparse_to_dense(%i: tensor<4x2xi64>, %v: tensor<4xf32>, %d: tensor<f32>) {
  %s = relay.constant dense<[2, -5]> : tensor<2xi64>
  // expected-error@below {{[relay.dyn.sparse_to_dense C2] the shape has the extent -5}}
  %y = relay.dyn.sparse_to_dense(%i, %s, %v, %d) : (tensor<4x2xi64>, tensor<2xi64>, tensor<4xf32>, tensor<f32>) -> !relay.incomplete
  func.return
}
