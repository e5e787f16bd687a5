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
  // expected-error@below {{not enough is known to infer the type of %w, result #0 of @unsolved_weight, the result of relay.nn.conv2d; help: give channels and kernel_size, or the weight's type (relay.nn.conv2d)}}
  %0 = relay.nn.conv2d(%x, %w) : (tensor<1x3x8x8xf32>, !relay.incomplete) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}

// -----

func.func @unsolved_argument(%x: !relay.incomplete) -> !relay.incomplete {
  // expected-error@below {{not enough is known to infer the type of %x, result #0 of @unsolved_argument; help: write its type}}
  func.return %x : !relay.incomplete
}
