// RUN: xrelay-opt %s -p relay-infer-type --split-input-file --verify-diagnostics

func.func @differ(%x: tensor<3xf32>, %y: tensor<4xf32>) -> !relay.incomplete {
  %f = relay.fn(%a : tensor<?xf32, #relay.dims<k>>, %b : tensor<?xf32, #relay.dims<k>>) -> tensor<?xf32, #relay.dims<k>> {
    relay.yield %a : tensor<?xf32, #relay.dims<k>>
  }
  // expected-error@below {{relay.invoke: argument #1 has the extent 4, its parameter k = 3 (k = 3 by argument #0)}}
  %0 = relay.invoke %f(%x, %y) : (tensor<3xf32>, tensor<4xf32>) -> !relay.incomplete of (tensor<?xf32, #relay.dims<k>>, tensor<?xf32, #relay.dims<k>>) -> tensor<?xf32, #relay.dims<k>>
  func.return %0 : !relay.incomplete
}

// -----

func.func @untold(%x: tensor<6xf32>) -> tensor<6xf32> {
  %f = relay.fn(%a : tensor<?xf32, #relay.dims<k * j>>) -> tensor<?xf32, #relay.dims<k * j>> {
    relay.yield %a : tensor<?xf32, #relay.dims<k * j>>
  }
  // expected-error@below {{relay.invoke: the closure's dimension j is not determined here}}
  %0 = relay.invoke %f(%x) : (tensor<6xf32>) -> tensor<6xf32> of (tensor<?xf32, #relay.dims<k * j>>) -> tensor<?xf32, #relay.dims<k * j>>
  func.return %0 : tensor<6xf32>
}

// -----

func.func @broadcast(%x: tensor<2xf32>, %y: tensor<3xf32>) -> !relay.incomplete {
  %f = relay.fn(%a : tensor<?xf32, #relay.dims<p>>, %b : tensor<?xf32, #relay.dims<q>>) -> !relay.incomplete {
    %s = relay.add(%a, %b) : (tensor<?xf32, #relay.dims<p>>, tensor<?xf32, #relay.dims<q>>) -> !relay.incomplete
    relay.yield %s : !relay.incomplete
  }
  // expected-error@below {{relay.invoke: broadcast(p, q) has no value: 2 and 3 do not broadcast}}
  %0 = relay.invoke %f(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> !relay.incomplete of (tensor<?xf32, #relay.dims<p>>, tensor<?xf32, #relay.dims<q>>) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}

// -----

func.func @branches(%c: tensor<i1>) -> !relay.incomplete {
  %f = relay.fn(%p : tensor<?xf32, #relay.dims<a>>) -> tensor<?xf32, #relay.dims<a>> {
    relay.yield %p : tensor<?xf32, #relay.dims<a>>
  }
  %g = relay.fn(%p : tensor<5xf32>) -> tensor<5xf32> {
    relay.yield %p : tensor<5xf32>
  }
  // expected-error@below {{relay.if: the branches yield functions of different types, (tensor<?xf32, #relay.dims<a>>) -> tensor<?xf32, #relay.dims<a>> and (tensor<5xf32>) -> tensor<5xf32>}}
  %h = relay.if %c : tensor<i1> -> !relay.incomplete {
    relay.yield %f : (tensor<?xf32, #relay.dims<a>>) -> tensor<?xf32, #relay.dims<a>>
  } else {
    relay.yield %g : (tensor<5xf32>) -> tensor<5xf32>
  }
  func.return %h : !relay.incomplete
}
