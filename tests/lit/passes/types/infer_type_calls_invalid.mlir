// RUN: xrelay-opt %s -p relay-infer-type --split-input-file --verify-diagnostics

func.func private @same(%x: tensor<?xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
  func.return %x : tensor<?xf32, #relay.dims<n>>
}
func.func @two_sizes(%x: tensor<3xf32>, %y: tensor<5xf32>) {
  // expected-error@below {{call of @same: argument #1 has the extent 5, its parameter n = 3 (n = 3 by argument #0)}}
  %0 = relay.call @same(%x, %y) : (tensor<3xf32>, tensor<5xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func private @even(%x: tensor<?xf32, #relay.dims<2 * n>>) -> tensor<?xf32, #relay.dims<n>>
func.func @odd(%x: tensor<7xf32>) {
  // expected-error@below {{call of @even: argument #0 has the extent 7, its parameter 2 * n = 6 (n = 3 by argument #0)}}
  %0 = relay.call @even(%x) : (tensor<7xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func private @longer(%x: tensor<?xf32, #relay.dims<n + 4>>) -> tensor<?xf32, #relay.dims<n>>
func.func @short(%x: tensor<3xf32>) {
  // expected-error@below {{[relay.call C2] -1 >= 0 (n of @longer) cannot hold here}}
  %0 = relay.call @longer(%x) : (tensor<3xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func private @product(%x: tensor<?xf32, #relay.dims<n * k>>) -> tensor<?xf32, #relay.dims<n>>
func.func @open(%x: tensor<12xf32>) {
  // expected-error@below {{the dimension k of @product is not determined here; help: write relay.call @product<k = …>(…)}}
  %0 = relay.call @product(%x) : (tensor<12xf32>) -> tensor<3xf32>
  func.return
}

// -----

func.func private @dense(%x: tensor<?x?xf32, #relay.dims<n, c>>, %w: tensor<?x?xf32, #relay.dims<m, k>>) -> !relay.incomplete {
  %0 = relay.nn.dense(%x, %w) : (tensor<?x?xf32, #relay.dims<n, c>>, tensor<?x?xf32, #relay.dims<m, k>>) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}
func.func @refuted(%x: tensor<4x6xf32>, %w: tensor<5x7xf32>) {
  // expected-error@below {{[relay.call C6] 6 == 7 (@dense: data's last extent and weight's second differ) cannot hold here}}
  %0 = relay.call @dense(%x, %w) : (tensor<4x6xf32>, tensor<5x7xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func private @same(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
  func.return %x : tensor<?xf32, #relay.dims<n>>
}
func.func @counts(%x: tensor<4xf32>) {
  // expected-error@below {{call of @same has 2 operands and 1 results, the function 1 and 1}}
  %0 = relay.call @same(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> !relay.incomplete
  func.return
}
