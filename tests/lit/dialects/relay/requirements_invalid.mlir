// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{expected '==', '>=' or '<=' after the first side of a requirement}}
func.func @no_relation() attributes {a = #relay.requirements<n>} {
  func.return
}

// -----

// expected-error@below {{expected '==', '>=' or '<=' after the first side of a requirement}}
func.func @half_a_sign() attributes {a = #relay.requirements<n = m>} {
  func.return
}

// -----

// expected-error@below {{a requirement relates named dimensions and integers, not '?'}}
func.func @any() attributes {a = #relay.requirements<n == ?>} {
  func.return
}

// -----

// expected-error@below {{n mod 0 divides by zero}}
func.func @zero() attributes {a = #relay.requirements<n mod 0 == 0>} {
  func.return
}

// -----

// expected-error@below {{3 and 4 do not broadcast}}
func.func @no_broadcast() attributes {a = #relay.requirements<broadcast(n, 3, 4) == n>} {
  func.return
}

// -----

// expected-error@below {{broadcast needs two dimensions or more, found 1}}
func.func @one_dimension() attributes {a = #relay.requirements<broadcast(n) == n>} {
  func.return
}

// -----

// expected-error@below {{expected the name of an extent}}
func.func @no_name() attributes {a = #relay.bounds<k + 1 <= n>} {
  func.return
}

// -----

// expected-error@below {{the extent k}}
func.func @twice() attributes {a = #relay.bounds<k <= n, k>} {
  func.return
}

// -----

// expected-error@below {{'floordiv' is a}}
func.func @word() attributes {a = #relay.bounds<floordiv <= n>} {
  func.return
}

// -----

func.func @result(%x: tensor<?xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<m>>) {
  // expected-error@below {{[relay.add C0]}}
  %z = relay.add(%x, %y) {relay.requires = #relay.requirements<n == m, n >= 2>} : (tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<m>>) -> tensor<1xf32>
  func.return
}

// -----

func.func @contradiction(%x: tensor<?xf32, #relay.dims<n>>) {
  // expected-error@below {{[relay.exp C0]}}
  %z = relay.exp(%x) {relay.requires = #relay.requirements<n == 2, n >= 3>} : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  func.return
}
