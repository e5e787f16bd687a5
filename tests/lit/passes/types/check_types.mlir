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
