// RUN: xrelay-opt %s -p relay-to-cps --split-input-file --verify-diagnostics | filecheck %s

// expected-error @+1 {{relay-to-cps: @gives returns a function, so the type of its answer would contain itself}}
func.func @gives(%x: tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>) {
  %f = relay.fn(%a : tensor<4xf32>) -> tensor<4xf32> {
    relay.yield %x : tensor<4xf32>
  }
  func.return %f : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

func.func @loop(%n: tensor<i64>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.loop(%i, %s = %x : tensor<4xf32>) to %n : tensor<i64> -> tuple<tensor<4xf32>> {
    // expected-error @+1 {{relay-to-cps: the body of a loop makes a call or a closure}}
    %t = func.call @loop(%n, %s) : (tensor<i64>, tensor<4xf32>) -> tensor<4xf32>
    %y = relay.tuple(%t) : (tensor<4xf32>) -> tuple<tensor<4xf32>>
    relay.yield %y : tuple<tensor<4xf32>>
  }
  %z = relay.tuple_get_item(%r) {index = 0} : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// -----

func.func @named(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
  // expected-error @+1 {{relay-to-cps: a call, closure or branch in a function with named dimensions}}
  %f = relay.fn(%a : tensor<f32>) -> tensor<f32> {
    relay.yield %a : tensor<f32>
  }
  %s = relay.sum(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<f32>
  %t = relay.invoke %f(%s) : (tensor<f32>) -> tensor<f32>
  %y = relay.multiply(%x, %t) : (tensor<?xf32, #relay.dims<n>>, tensor<f32>) -> tensor<?xf32, #relay.dims<n>>
  func.return %y : tensor<?xf32, #relay.dims<n>>
}

// -----

// A function without calls may have named dimensions.
// CHECK-LABEL: func.func @plain
// CHECK-SAME:    %k: (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>)
func.func @plain(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
  %y = relay.exp(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  func.return %y : tensor<?xf32, #relay.dims<n>>
}
