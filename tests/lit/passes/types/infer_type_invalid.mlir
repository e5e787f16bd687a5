// RUN: xrelay-opt %s -p relay-infer-type --split-input-file --verify-diagnostics

func.func @contradiction(%x: tensor<4xf32>) -> !relay.incomplete {
  %y = relay.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = relay.exp(%x) : (tensor<4xf32>) -> !relay.incomplete
  // expected-error@below {{[relay.add C2] shapes (4) and (3) do not broadcast}}
  %1 = relay.add(%0, %y) : (!relay.incomplete, tensor<3xf32>) -> !relay.incomplete
  func.return %1 : !relay.incomplete
}

// -----

func.func @both_ways(%x: !relay.incomplete) -> tensor<4xf32> {
  %0 = relay.nn.relu(%x) : (!relay.incomplete) -> tensor<4xf32>
  // expected-error@below {{relay.reshape: the result of relay.reshape has type tensor<5xf32>, but must have type tensor<4xf32>}}
  %1 = relay.reshape(%x) {newshape = [-1]} : (!relay.incomplete) -> tensor<5xf32>
  func.return %0 : tensor<4xf32>
}

// -----

func.func @unsolved_weight(%x: tensor<1x3x8x8xf32>, %w: !relay.incomplete) -> !relay.incomplete {
  // expected-error@below {{not enough is known to infer the type of %w, result #0 of @unsolved_weight, the result of relay.nn.conv2d; help}}
  %0 = relay.nn.conv2d(%x, %w) : (tensor<1x3x8x8xf32>, !relay.incomplete) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}

// -----

func.func @unsolved_argument(%x: !relay.incomplete) -> !relay.incomplete {
  // expected-error@below {{not enough is known to infer the type of %x, result #0 of @unsolved_argument; help: write its type}}
  func.return %x : !relay.incomplete
}

// -----

// Contradictory requirements of one op are an error, also in a branch: no size fulfils them.
func.func @in_a_branch(%c: tensor<i1>, %x: tensor<1x?x3x4xf32, #relay.dims<2 * n>>, %w: tensor<2x?x?x3xf32, #relay.dims<n, n>>) -> !relay.incomplete {
  %0 = relay.if %c : tensor<i1> -> !relay.incomplete {
    // expected-error@below {{[relay.nn.conv2d C6] n >= 1 (kernel_size) cannot hold here; help: the same op requires n == 2 * n (kernel in-channels)}}
    %1 = relay.nn.conv2d(%x, %w) : (tensor<1x?x3x4xf32, #relay.dims<2 * n>>, tensor<2x?x?x3xf32, #relay.dims<n, n>>) -> !relay.incomplete
    relay.yield %1 : !relay.incomplete
  } else {
    relay.yield %x : tensor<1x?x3x4xf32, #relay.dims<2 * n>>
  }
  func.return %0 : !relay.incomplete
}

// -----

func.func @two_ops(%c: tensor<i1>, %x: tensor<?xf32, #relay.dims<n>>, %y: tensor<?x?xf32, #relay.dims<n, n + 3>>) -> !relay.incomplete {
  %0 = relay.if %c : tensor<i1> -> !relay.incomplete {
    %1 = relay.squeeze(%x) {axis = [0]} : (tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete
    // expected-error@below {{n == 4 (result extent) cannot hold here; help: relay.squeeze at}}
    %2 = relay.negative(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<4xf32>
    %3 = relay.add(%1, %2) : (!relay.incomplete, tensor<4xf32>) -> !relay.incomplete
    relay.yield %3 : !relay.incomplete
  } else {
    relay.yield %x : tensor<?xf32, #relay.dims<n>>
  }
  func.return %0 : !relay.incomplete
}
