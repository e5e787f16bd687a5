// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @dynamic() {
  // expected-error@below {{[relay.constant C1] the result must have a static shape, found tensor<?xf32>}}
  %c = relay.constant #relay.weight<"w", "k"> : tensor<?xf32>
  func.return
}

// -----

func.func @not_an_array() {
  // expected-error@below {{[relay.constant C2] value "text" is neither dense of type tensor<4xf32> nor a weight}}
  %c = relay.constant "text" : tensor<4xf32>
  func.return
}
