// RUN: xrelay-opt %s --split-input-file --verify-diagnostics -p relay-outline-compiler-functions | filecheck %s
// RUN: xrelay-opt %s --split-input-file -p 'relay-outline-compiler-functions{compiler-filter=other}' | filecheck %s --check-prefix=OTHER

// Both calls of the closure, one by the name of a let, call the function; the composite in it and the constant that it
// uses go with it.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %v = func.call @mine_0(%x)
// CHECK-NEXT:    %w = func.call @mine_0(%v)
// CHECK-NEXT:    func.return %w
// CHECK:       func.func private @mine_0(%a: tensor<4xf32>) -> tensor<4xf32> attributes {Inline = 1 : i64, Compiler = "mine", global_symbol = "mine_0", Primitive = 1 : i64}
// CHECK-NEXT:    %c = relay.constant
// CHECK-NEXT:    %g = relay.fn(%b: tensor<4xf32>) -> tensor<4xf32> attributes {Composite = "mine.exp"}
// CHECK:         %s = relay.invoke %g(%a)
// CHECK-NEXT:    %t = relay.add(%s, %c)
// CHECK-NEXT:    func.return %t
// OTHER-LABEL: func.func @main
// OTHER:         relay.fn(%a: tensor<4xf32>)
// OTHER-NOT:     func.call
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<1.0> : tensor<f32>
  %f = relay.fn(%a: tensor<4xf32>) -> tensor<4xf32> attributes {Inline = 1, Compiler = "mine", global_symbol = "mine_0", Primitive = 1} {
    %g = relay.fn(%b: tensor<4xf32>) -> tensor<4xf32> attributes {Composite = "mine.exp"} {
      %e = relay.exp(%b) : (tensor<4xf32>) -> tensor<4xf32>
      relay.yield %e : tensor<4xf32>
    }
    %s = relay.invoke %g(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %t = relay.add(%s, %c) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    relay.yield %t : tensor<4xf32>
  }
  %v = relay.invoke %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %h = relay.let "h" = %f : (tensor<4xf32>) -> tensor<4xf32>
  %w = relay.invoke %h(%v) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %w : tensor<4xf32>
}

// -----

// Equal closures of one symbol are one function, with named dimensions too. A composite without a compiler stays.
// CHECK-LABEL: func.func @main
// CHECK:         relay.call @mine_0<n = m>(%x)
// CHECK:         relay.call @mine_0<n = p>(%y)
// CHECK:         relay.invoke %k(
// CHECK:       func.func private @mine_0(
// CHECK-NOT:   func.func
func.func @main(%x: tensor<?xf32, #relay.dims<m>>, %y: tensor<?xf32, #relay.dims<p>>) -> (tensor<?xf32, #relay.dims<m>>, tensor<?xf32, #relay.dims<p>>) {
  %f = relay.fn(%a: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> attributes {Compiler = "mine", global_symbol = "mine_0"} {
    %e = relay.exp(%a) : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
    relay.yield %e : tensor<?xf32, #relay.dims<n>>
  }
  %g = relay.fn(%a: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> attributes {Compiler = "mine", global_symbol = "mine_0"} {
    %e = relay.exp(%a) : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
    relay.yield %e : tensor<?xf32, #relay.dims<n>>
  }
  %k = relay.fn(%a: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> attributes {Composite = "mine.exp"} {
    %e = relay.exp(%a) : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
    relay.yield %e : tensor<?xf32, #relay.dims<n>>
  }
  %v = relay.invoke %f(%x) : (tensor<?xf32, #relay.dims<m>>) -> tensor<?xf32, #relay.dims<m>> of (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  %w = relay.invoke %g(%y) : (tensor<?xf32, #relay.dims<p>>) -> tensor<?xf32, #relay.dims<p>> of (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  %z = relay.invoke %k(%w) : (tensor<?xf32, #relay.dims<p>>) -> tensor<?xf32, #relay.dims<p>> of (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  func.return %v, %z : tensor<?xf32, #relay.dims<m>>, tensor<?xf32, #relay.dims<p>>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{a function for a compiler has no attribute global_symbol}}
  %f = relay.fn(%a: tensor<4xf32>) -> tensor<4xf32> attributes {Compiler = "mine"} {
    relay.yield %a : tensor<4xf32>
  }
  %v = relay.invoke %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %v : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{a function for a compiler uses itself}}
  %f = relay.fn(%a: tensor<4xf32>) -> tensor<4xf32> attributes {Compiler = "mine", global_symbol = "mine_0"} {
    %s = relay.add(%a, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %s : tensor<4xf32>
  }
  %v = relay.invoke %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %v : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{@mine_0}}
  %f = relay.fn(%a: tensor<4xf32>) -> tensor<4xf32> attributes {Compiler = "mine", global_symbol = "mine_0"} {
    relay.yield %a : tensor<4xf32>
  }
  %v = relay.invoke %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %v : tensor<4xf32>
}
func.func private @mine_0(%a: tensor<4xf32>) -> tensor<4xf32> attributes {Compiler = "mine", global_symbol = "mine_0"} {
  %e = relay.exp(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %e : tensor<4xf32>
}
