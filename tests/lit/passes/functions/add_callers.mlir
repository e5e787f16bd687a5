// RUN: xrelay-opt %s --split-input-file -p relay-infer-type,relay-add-callers | filecheck %s
// RUN: xrelay-opt %s --split-input-file -p relay-infer-type,relay-add-callers,relay-add-callers | filecheck %s
// RUN: xrelay-opt %s --split-input-file -p relay-infer-type,relay-add-callers,relay-lift-closures | filecheck %s --check-prefix=LIFTED

!t = tensor<3xf32>
!f = (!t) -> !t

// Each closure that @main returns has a caller, also in a tuple, and so has each closure that a caller returns.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    -> (tensor<3xf32>, (tensor<3xf32>) -> tensor<3xf32>, (tensor<3xf32>) -> ((tensor<3xf32>) -> tensor<3xf32>))
// CHECK-SAME:    relay.callers = [
// CHECK-SAME:      {result = 1 : i64, caller = @main_result1, type = (tensor<3xf32>) -> tensor<3xf32>},
// CHECK-SAME:      {result = 2 : i64, caller = @main_result2, type = (tensor<3xf32>) -> ((tensor<3xf32>) -> tensor<3xf32>)}]
// CHECK:       func.func private @main_result1(%{{.*}}: (tensor<3xf32>) -> tensor<3xf32> {relay.name = "function"}, %{{.*}}: tensor<3xf32> {relay.name = "input0"}) -> tensor<3xf32>
// CHECK-SAME:    relay.takes = {{\[\[}}(tensor<3xf32>) -> tensor<3xf32>]]
// CHECK:         relay.invoke
// CHECK:       func.func private @main_result2
// CHECK-SAME:    relay.callers = [{result = 0 : i64, caller = @main_result2_result0, type = (tensor<3xf32>) -> tensor<3xf32>}]
// CHECK:       func.func private @main_result2_result0

// The calls of the callers select the functions that the closures may be.
// LIFTED-LABEL: func.func @main
// LIFTED:         relay.closure_construct(%x) {number = 0}
// LIFTED:         relay.closure_construct(%x) {number = 1}
// LIFTED:       func.func private @main_result1(%{{.*}}: !relay.closure
// LIFTED:         relay.closure_captured
// LIFTED:         relay.add
// LIFTED:       func.func private @main_result2(%{{.*}}: !relay.closure
// LIFTED:         relay.closure_construct
// LIFTED:       func.func private @main_result2_result0(%{{.*}}: !relay.closure
func.func @main(%x: !t) -> (tuple<!t, !f>, (!t) -> (!f)) {
  %f = relay.fn(%a : !t) -> !t {
    %s = relay.add(%a, %x) : (!t, !t) -> !t
    relay.yield %s : !t
  }
  %g = relay.fn(%a : !t) -> !f {
    %h = relay.fn(%b : !t) -> !t {
      %m = relay.multiply(%a, %b) : (!t, !t) -> !t
      %d = relay.subtract(%m, %x) : (!t, !t) -> !t
      relay.yield %d : !t
    }
    relay.yield %h : !f
  }
  %p = relay.tuple(%x, %f) : (!t, !f) -> tuple<!t, !f>
  func.return %p, %g : tuple<!t, !f>, (!t) -> (!f)
}

// -----

!t = tensor<3xf32>

// A program that returns no function is not changed.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     relay.callers
// CHECK-NOT:   func.func
func.func @main(%x: !t) -> !t {
  %f = relay.fn(%a : !t) -> !t {
    %s = relay.add(%a, %x) : (!t, !t) -> !t
    relay.yield %s : !t
  }
  %r = relay.invoke %f(%x) : (!t) -> !t
  func.return %r : !t
}
