// RUN: xrelay-opt %s -p relay-check-types --split-input-file --verify-diagnostics

func.func @complete(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

func.func @field(%x: tensor<4xf32>) {
  // expected-error@below {{%t has the incomplete type tuple<!relay.incomplete>; help: run relay-infer-type first}}
  %t = relay.tuple(%x) : (tensor<4xf32>) -> tuple<!relay.incomplete>
  func.return
}

// -----

func.func private @callee(tensor<?xf32, #relay.dims<n>>)
func.func @names(%x: tensor<4xf32>) {
  relay.call @callee<n = 4>(%x) : (tensor<4xf32>) -> ()
  // expected-error@below {{relay.call does not bind the dimensions of @callee; help: run relay-infer-type first}}
  relay.call @callee(%x) : (tensor<4xf32>) -> ()
  func.return
}
