// RUN: xrelay-opt %s -p relay-simplify-expr | filecheck %s

// CHECK-LABEL: @square(
// CHECK-NEXT:    %[[S:.*]] = relay.add(%x, %y)
// CHECK-NEXT:    %[[P:.*]] = relay.multiply(%[[S]], %[[S]])
// CHECK-NEXT:    func.return %[[P]]
func.func @square(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %two = relay.constant dense<2.0> : tensor<f32>
  %a = relay.multiply(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = relay.multiply(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = relay.multiply(%two, %b) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %d = relay.multiply(%y, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = relay.add(%a, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = relay.add(%e, %d) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// 6 x² + 5 x y + y², terms and factors in another order.
// CHECK-LABEL: @whole_roots(
// CHECK-NEXT:    %[[THREE:.*]] = relay.constant dense<3> : tensor<i32>
// CHECK-NEXT:    %[[A:.*]] = relay.multiply(%x, %[[THREE]])
// CHECK-NEXT:    %[[B:.*]] = relay.add(%y, %[[A]])
// CHECK-NEXT:    %[[TWO:.*]] = relay.constant dense<2> : tensor<i32>
// CHECK-NEXT:    %[[C:.*]] = relay.multiply(%x, %[[TWO]])
// CHECK-NEXT:    %[[D:.*]] = relay.add(%y, %[[C]])
// CHECK-NEXT:    relay.multiply(%[[B]], %[[D]])
func.func @whole_roots(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %five = relay.constant dense<5> : tensor<i32>
  %six = relay.constant dense<6> : tensor<i32>
  %a = relay.multiply(%x, %six) : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %b = relay.multiply(%a, %x) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %c = relay.multiply(%y, %five) : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %d = relay.multiply(%c, %x) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %e = relay.multiply(%y, %y) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %f = relay.add(%e, %b) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %z = relay.add(%d, %f) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %z : tensor<4xi32>
}

// x² + 3 x y + y² has real roots, which are floats, not integers.
// CHECK-LABEL: @real_roots(
// CHECK:         relay.constant dense<2.61803{{.*}}> : tensor<f32>
// CHECK:         relay.constant dense<0.38196{{.*}}> : tensor<f32>
func.func @real_roots(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %three = relay.constant dense<3.0> : tensor<f32>
  %a = relay.multiply(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = relay.multiply(%x, %three) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = relay.multiply(%b, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = relay.multiply(%y, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = relay.add(%a, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = relay.add(%e, %d) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// CHECK-LABEL: @no_whole_roots(
// CHECK-COUNT-4: relay.multiply
// CHECK-COUNT-2: relay.add
// CHECK-NEXT:    func.return
func.func @no_whole_roots(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %three = relay.constant dense<3> : tensor<i32>
  %a = relay.multiply(%x, %x) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %b = relay.multiply(%x, %three) : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %c = relay.multiply(%b, %y) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %d = relay.multiply(%y, %y) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %e = relay.add(%a, %c) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %z = relay.add(%e, %d) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %z : tensor<4xi32>
}

// x² + x y + y² has no real roots.
// CHECK-LABEL: @no_roots(
// CHECK-COUNT-3: relay.multiply
// CHECK-COUNT-2: relay.add
// CHECK-NEXT:    func.return
func.func @no_roots(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.multiply(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = relay.multiply(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = relay.multiply(%y, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = relay.add(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = relay.add(%c, %d) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// Left alone: a product with other users, and an operand that broadcasts.
// CHECK-LABEL: @leaves_alone(
// CHECK-COUNT-8: relay.multiply
// CHECK:         func.return
func.func @leaves_alone(%x: tensor<4xf32>, %y: tensor<4xf32>, %s: tensor<1xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %two = relay.constant dense<2.0> : tensor<f32>
  %a = relay.multiply(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = relay.multiply(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = relay.multiply(%two, %b) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %d = relay.multiply(%y, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = relay.add(%a, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %f = relay.add(%e, %d) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %g = relay.multiply(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %h = relay.multiply(%x, %s) : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %i = relay.multiply(%two, %h) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %j = relay.multiply(%s, %s) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %k = relay.add(%g, %i) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l = relay.add(%k, %j) : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  func.return %f, %l, %a : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
