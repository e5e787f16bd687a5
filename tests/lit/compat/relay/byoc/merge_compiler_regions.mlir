// RUN: xrelay-opt %s -p relay-merge-compiler-regions | filecheck %s

// CHECK-LABEL: @chain(
// CHECK-NEXT:    %b = relay.annotation.compiler_begin(%x) {compiler = "c"}
// CHECK-NEXT:    %y = relay.exp(%b)
// CHECK-NEXT:    %z = relay.negative(%y)
// CHECK-NEXT:    %f = relay.annotation.compiler_end(%z) {compiler = "c"}
// CHECK-NEXT:    func.return %f
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b = relay.annotation.compiler_begin(%x) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %y = relay.exp(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %e = relay.annotation.compiler_end(%y) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %d = relay.annotation.compiler_begin(%e) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %z = relay.negative(%d) : (tensor<4xf32>) -> tensor<4xf32>
  %f = relay.annotation.compiler_end(%z) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %f : tensor<4xf32>
}

// One side of a diamond has no target: a region of all three ops would depend on its own results.
// CHECK-LABEL: @diamond(
// CHECK:         %a = relay.abs(%b)
// CHECK-NEXT:    %e2 = relay.annotation.compiler_end(%a) {compiler = "c"}
// CHECK-NEXT:    %l = relay.nn.relu(%a)
// CHECK-NEXT:    %e3 = relay.annotation.compiler_end(%l) {compiler = "c"}
// CHECK:         %r = relay.tanh(
// CHECK:         %b4 = relay.annotation.compiler_begin(%e3) {compiler = "c"}
// CHECK-NEXT:    %b5 = relay.annotation.compiler_begin({{.*}}) {compiler = "c"}
// CHECK-NEXT:    relay.add(%b4, %b5)
func.func @diamond(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b = relay.annotation.compiler_begin(%x) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %a = relay.abs(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %e1 = relay.annotation.compiler_end(%a) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %e2 = relay.annotation.compiler_end(%a) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %b2 = relay.annotation.compiler_begin(%e1) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %l = relay.nn.relu(%b2) : (tensor<4xf32>) -> tensor<4xf32>
  %e3 = relay.annotation.compiler_end(%l) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %b3 = relay.annotation.compiler_begin(%e2) {compiler = "default"} : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.tanh(%b3) : (tensor<4xf32>) -> tensor<4xf32>
  %e4 = relay.annotation.compiler_end(%r) {compiler = "default"} : (tensor<4xf32>) -> tensor<4xf32>
  %b4 = relay.annotation.compiler_begin(%e3) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %b5 = relay.annotation.compiler_begin(%e4) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %s = relay.add(%b4, %b5) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e5 = relay.annotation.compiler_end(%s) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %e5 : tensor<4xf32>
}

// The same with an unannotated side.
// CHECK-LABEL: @diamond_around_an_op(
// CHECK:         %e2 = relay.annotation.compiler_end(%a) {compiler = "c"}
// CHECK:         %e4 = relay.tanh(%e2)
// CHECK:         %b4 = relay.annotation.compiler_begin(%e3) {compiler = "c"}
func.func @diamond_around_an_op(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b = relay.annotation.compiler_begin(%x) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %a = relay.abs(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %e1 = relay.annotation.compiler_end(%a) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %e2 = relay.annotation.compiler_end(%a) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %b2 = relay.annotation.compiler_begin(%e1) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %l = relay.nn.relu(%b2) : (tensor<4xf32>) -> tensor<4xf32>
  %e3 = relay.annotation.compiler_end(%l) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %e4 = relay.tanh(%e2) : (tensor<4xf32>) -> tensor<4xf32>
  %b4 = relay.annotation.compiler_begin(%e3) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %b5 = relay.annotation.compiler_begin(%e4) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %s = relay.add(%b4, %b5) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e5 = relay.annotation.compiler_end(%s) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %e5 : tensor<4xf32>
}

// Neighbours for different compilers stay separate.
// CHECK-LABEL: @two_compilers(
// CHECK:         relay.annotation.compiler_end(%y) {compiler = "c"}
// CHECK-NEXT:    relay.annotation.compiler_begin(%e) {compiler = "d"}
func.func @two_compilers(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b = relay.annotation.compiler_begin(%x) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %y = relay.exp(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %e = relay.annotation.compiler_end(%y) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %d = relay.annotation.compiler_begin(%e) {compiler = "d"} : (tensor<4xf32>) -> tensor<4xf32>
  %z = relay.negative(%d) : (tensor<4xf32>) -> tensor<4xf32>
  %f = relay.annotation.compiler_end(%z) {compiler = "d"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %f : tensor<4xf32>
}

// Regions in a branch stay in it.
// CHECK-LABEL: @branch(
// CHECK:         relay.annotation.compiler_end(%y) {compiler = "c"}
// CHECK:           relay.annotation.compiler_begin(%e) {compiler = "c"}
// CHECK-NEXT:      relay.negative
func.func @branch(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %b = relay.annotation.compiler_begin(%x) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %y = relay.exp(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %e = relay.annotation.compiler_end(%y) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
    %d = relay.annotation.compiler_begin(%e) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
    %z = relay.negative(%d) : (tensor<4xf32>) -> tensor<4xf32>
    %f = relay.annotation.compiler_end(%z) {compiler = "c"} : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %f : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// Regions merged by the first rule would form a cycle: V and W are for "b", P and R for "a", Z for "b" is between.
// CHECK-LABEL: @circle(
// CHECK:         relay.annotation.compiler_end(%p) {compiler = "a"}
// CHECK:         %r = relay.add(%r1, %r2)
// CHECK:         %w = relay.add(%w1, %w2)
func.func @circle(%x: tensor<4xf32>) -> tensor<4xf32> {
  %pb = relay.annotation.compiler_begin(%x) {compiler = "a"} : (tensor<4xf32>) -> tensor<4xf32>
  %p = relay.exp(%pb) : (tensor<4xf32>) -> tensor<4xf32>
  %pe = relay.annotation.compiler_end(%p) {compiler = "a"} : (tensor<4xf32>) -> tensor<4xf32>
  %pf = relay.annotation.compiler_end(%p) {compiler = "a"} : (tensor<4xf32>) -> tensor<4xf32>
  %vb = relay.annotation.compiler_begin(%x) {compiler = "b"} : (tensor<4xf32>) -> tensor<4xf32>
  %v = relay.abs(%vb) : (tensor<4xf32>) -> tensor<4xf32>
  %ve = relay.annotation.compiler_end(%v) {compiler = "b"} : (tensor<4xf32>) -> tensor<4xf32>
  %vf = relay.annotation.compiler_end(%v) {compiler = "b"} : (tensor<4xf32>) -> tensor<4xf32>
  %zb = relay.annotation.compiler_begin(%pe) {compiler = "b"} : (tensor<4xf32>) -> tensor<4xf32>
  %z = relay.tanh(%zb) : (tensor<4xf32>) -> tensor<4xf32>
  %ze = relay.annotation.compiler_end(%z) {compiler = "b"} : (tensor<4xf32>) -> tensor<4xf32>
  %zf = relay.annotation.compiler_end(%z) {compiler = "b"} : (tensor<4xf32>) -> tensor<4xf32>
  %r1 = relay.annotation.compiler_begin(%pf) {compiler = "a"} : (tensor<4xf32>) -> tensor<4xf32>
  %r2 = relay.annotation.compiler_begin(%ve) {compiler = "a"} : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.add(%r1, %r2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %re = relay.annotation.compiler_end(%r) {compiler = "a"} : (tensor<4xf32>) -> tensor<4xf32>
  %w1 = relay.annotation.compiler_begin(%vf) {compiler = "b"} : (tensor<4xf32>) -> tensor<4xf32>
  %w2 = relay.annotation.compiler_begin(%ze) {compiler = "b"} : (tensor<4xf32>) -> tensor<4xf32>
  %w = relay.add(%w1, %w2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %we = relay.annotation.compiler_end(%w) {compiler = "b"} : (tensor<4xf32>) -> tensor<4xf32>
  %s = relay.add(%zf, %re) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t = relay.add(%s, %we) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %t : tensor<4xf32>
}
