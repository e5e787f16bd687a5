// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @unknown(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.call C1]}}
  %r = relay.call @f<n = 4>(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func private @f(tensor<4xf32>) -> tensor<4xf32>
func.func @no_names(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.call C1]}}
  %r = relay.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func private @f(tensor<?x?xf32, #relay.dims<n, k>>) -> tensor<?xf32, #relay.dims<n>>
func.func @unbound(%x: tensor<4x5xf32>) {
  // expected-error@below {{[relay.call C2] the dimension k of @f is not bound}}
  %r = relay.call @f<n = 4>(%x) : (tensor<4x5xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func private @f(tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
func.func @not_a_name(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.call C2] @f has no dimension m}}
  %r = relay.call @f<n = 4, m = 4>(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func private @f(tensor<?xf32, #relay.dims<n + 2>>) -> tensor<?xf32, #relay.dims<n>>
func.func @negative(%x: tensor<1xf32>) {
  // expected-error@below {{[relay.call C2] the dimension n of @f is -1, must be 0 or more}}
  %r = relay.call @f<n = -1>(%x) : (tensor<1xf32>) -> tensor<?xf32, #relay.dims<m>>
  func.return
}

// -----

func.func private @f(tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
func.func @twice(%x: tensor<4xf32>) {
  // expected-error@below {{the dimension n is bound twice}}
  %r = relay.call @f<n = 4, n = 4>(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func private @f(tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
func.func @anything(%x: tensor<?xf32>) {
  // expected-error@below {{n}}
  %r = relay.call @f<n = ?>(%x) : (tensor<?xf32>) -> tensor<?xf32>
  func.return
}

// -----

func.func private @f(tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
func.func @operands(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.call C3] 2 operands, @f has 1}}
  %r = relay.call @f<n = 4>(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func private @f(tensor<?xf32, #relay.dims<2 * n>>) -> tensor<?xf32, #relay.dims<n>>
func.func @operand(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.call C3] operand #0 is tensor<4xf32>, must be tensor<6xf32>}}
  %r = relay.call @f<n = 3>(%x) : (tensor<4xf32>) -> tensor<3xf32>
  func.return
}

// -----

func.func private @f(tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<2 * n>>
func.func @result(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.call C4] result #0 is tensor<4xf32>, must be tensor<8xf32>}}
  %r = relay.call @f<n = 4>(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func private @f(tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
func.func @results(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.call C4] 0 results, @f has 1}}
  relay.call @f<n = 4>(%x) : (tensor<4xf32>) -> ()
  func.return
}

// -----

func.func private @f(tensor<?xi1, #relay.dims<n>>) -> tensor<?x1xi64, #relay.dims<k>>
func.func @made(%x: tensor<4xi1>) {
  // expected-error@below {{[relay.call C5]}}
  %r = relay.call @f<n = 4, k = q>(%x) : (tensor<4xi1>) -> tensor<?x1xi64, #relay.dims<q>>
  func.return
}

// -----

func.func private @f(tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
func.func @requirements(%x: tensor<4xf32>) {
  // expected-error@below {{[relay.call C6]}}
  %r = relay.call @f<n = 4>(%x) {relay.requires = #relay.requirements<4 == 5 "C6 @f: extents">} : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}
