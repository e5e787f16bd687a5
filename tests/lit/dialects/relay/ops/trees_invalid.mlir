// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @columns(%x: tensor<5x4xf32>, %t: tensor<9xf32>, %n: tensor<9x2xi32>) {
  // expected-error@below {{[relay.tree_leaves C4]}}
  %l = relay.tree_leaves(%x, %t, %n) {trees = 2, depth = 3} : (tensor<5x4xf32>, tensor<9xf32>, tensor<9x2xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @wide(%x: tensor<5x4xf32>, %t: tensor<9xf32>, %n: tensor<9x3xi64>) {
  // expected-error@below {{[relay.tree_leaves C4]}}
  %l = relay.tree_leaves(%x, %t, %n) {trees = 2, depth = 3} : (tensor<5x4xf32>, tensor<9xf32>, tensor<9x3xi64>) -> !relay.incomplete
  func.return
}

// -----

func.func @many(%x: tensor<5x4xf32>, %t: tensor<9xf32>, %n: tensor<9x3xi32>) {
  // expected-error@below {{[relay.tree_leaves C5] 9 nodes for 10 roots}}
  %l = relay.tree_leaves(%x, %t, %n) {trees = 10, depth = 3} : (tensor<5x4xf32>, tensor<9xf32>, tensor<9x3xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @negative(%x: tensor<5x4xf32>, %t: tensor<9xf32>, %n: tensor<9x3xi32>) {
  // expected-error@below {{[relay.tree_leaves C5] trees = 2 and depth = -1 must not be negative}}
  %l = relay.tree_leaves(%x, %t, %n) {trees = 2, depth = -1} : (tensor<5x4xf32>, tensor<9xf32>, tensor<9x3xi32>) -> !relay.incomplete
  func.return
}

// -----

func.func @empty(%x: tensor<5x0xf32>, %t: tensor<9xf32>, %n: tensor<9x3xi32>) {
  // expected-error@below {{[relay.tree_leaves C5] tensor<5x0xf32> has no features}}
  %l = relay.tree_leaves(%x, %t, %n) {trees = 2, depth = 1} : (tensor<5x0xf32>, tensor<9xf32>, tensor<9x3xi32>) -> !relay.incomplete
  func.return
}
