// RUN: xrelay-opt %s -p relay-outline-fused | filecheck %s

// A function @main with callers becomes a private function, which a new @main calls once.
// CHECK:      func.func @main(%x: tensor<4xf32> {relay.name = "x"}) -> tensor<4xf32> attributes {relay.form = "bbnf"} {
// CHECK-NEXT:   %{{.*}} = func.call @main_2(%x)
// CHECK-NEXT:   func.return
// CHECK:      func.func private @main_2(%x{{.*}}: tensor<4xf32> {relay.name = "x"}) -> tensor<4xf32>
// CHECK-NEXT:   func.call @main_1(%x
func.func @main(%x: tensor<4xf32> {relay.name = "x"}) -> tensor<4xf32> attributes {relay.form = "bbnf"} {
  %a = func.call @main_1(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}

// CHECK:      func.func private @main_1
// CHECK-NEXT:   func.call @main_2
func.func private @main_1(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = func.call @main(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}
