// RUN: xrelay-opt %s -p relay-remove-unused-functions | filecheck %s
// RUN: xrelay-opt %s -p "relay-remove-unused-functions{entry=other,alone}" | filecheck %s --check-prefix TWO
// RUN: not xrelay-opt %s -p "relay-remove-unused-functions{entry=mian}" 2>&1 | filecheck %s --check-prefix REFUSED

// REFUSED: relay-remove-unused-functions: no function is called @mian; help: did you mean '@main'?

// Functions that @main needs, directly or not, stay; others are removed, also recursive and public ones.
// CHECK:     func.func @main
// CHECK:     func.func @direct
// CHECK:     func.func private @indirect
// CHECK:     func.func private @named
// CHECK-NOT: func.func
// TWO-NOT:   @main
// TWO:       func.func private @indirect
// TWO:       func.func @other
// TWO:       func.func @alone
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @direct(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func @direct(%a: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn(%b : tensor<4xf32>) -> tensor<4xf32> {
    %c = func.call @indirect(%b) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %c : tensor<4xf32>
  }
  %r = relay.invoke %f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
func.func private @indirect(%a: tensor<4xf32>) -> tensor<4xf32> {
  %m = relay.call @named<n = 4>(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %m : tensor<4xf32>
}
func.func @other(%a: tensor<4xf32>) -> tensor<4xf32> {
  %m = func.call @other(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %n = func.call @indirect(%m) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %n : tensor<4xf32>
}
func.func @alone(%a: tensor<4xf32>) -> tensor<4xf32> {
  func.return %a : tensor<4xf32>
}
func.func private @named(%a: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
  func.return %a : tensor<?xf32, #relay.dims<n>>
}
