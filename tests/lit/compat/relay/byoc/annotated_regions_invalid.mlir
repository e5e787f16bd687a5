// RUN: xrelay-opt %s -p relay-merge-compiler-regions --split-input-file --verify-diagnostics
// RUN: xrelay-opt %s -p relay-partition-graph --split-input-file --verify-diagnostics

func.func @end_without_begin(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{no region}}
  %e = relay.annotation.compiler_end(%x) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %e : tensor<4xf32>
}

// -----

func.func @end_of_another(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b = relay.annotation.compiler_begin(%x) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %y = relay.exp(%b) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@below {{regions for 'c' and 'd' meet here}}
  %e = relay.annotation.compiler_end(%y) {compiler = "d"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %e : tensor<4xf32>
}

// -----

func.func @two_meet(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b = relay.annotation.compiler_begin(%x) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %d = relay.annotation.compiler_begin(%x) {compiler = "d"} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@below {{regions for 'c' and 'd' meet here}}
  %y = relay.add(%b, %d) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = relay.annotation.compiler_end(%y) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %e : tensor<4xf32>
}

// -----

func.func @not_begun(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b = relay.annotation.compiler_begin(%x) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@below {{region for 'c' is not annotated}}
  %y = relay.add(%b, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = relay.annotation.compiler_end(%y) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %e : tensor<4xf32>
}

// -----

func.func @not_ended(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b = relay.annotation.compiler_begin(%x) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %y = relay.exp(%b) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@below {{a region does not end before this}}
  func.return %y : tensor<4xf32>
}

// -----

func.func @circle(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{the region for 'c'}}
  %b = relay.annotation.compiler_begin(%x) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %y = relay.exp(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %e = relay.annotation.compiler_end(%y) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %t = relay.tanh(%e) : (tensor<4xf32>) -> tensor<4xf32>
  %d = relay.annotation.compiler_begin(%t) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %z = relay.add(%y, %d) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %f = relay.annotation.compiler_end(%z) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %f : tensor<4xf32>
}
