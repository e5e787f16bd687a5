// RUN: xrelay-opt %s -p convert-loop-to-scf --split-input-file | filecheck %s

// More than 16 kernel calls: before each the function polls whether the run continues, also in functions besides @main.
// As @main calls a function that is no kernel, it is not straight-line code.
// CHECK:               builtin.module attributes {{{.*}}xrelay.polls}
// CHECK-LABEL:         func.func @main
// CHECK-NEXT:            func.call @other
// CHECK-COUNT-16:        cf.assert %goes_on{{.*}}, "cancelled"
// CHECK-NEXT:            func.call @k
// CHECK-NEXT:            func.return
// CHECK:               func.func private @other
// CHECK-NEXT:            %goes_on = func.call @xrelay_poll() : () -> i1
// CHECK-NEXT:            cf.assert %goes_on, "cancelled"
// CHECK-NEXT:            func.call @k
// CHECK:               func.func private @xrelay_poll() -> i1
func.func @main(%x: memref<4xf32> {relay.name = "x"}) attributes {loop.num_outputs = 0 : i64} {
  func.call @other(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.return
}
func.func private @other(%x: memref<4xf32>) {
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.return
}
func.func private @k(memref<4xf32>) attributes {loop.kernel, loop.num_outputs = 0 : i64}

// -----

// A run of 16 kernels does not poll.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     xrelay_poll
func.func @main(%x: memref<4xf32> {relay.name = "x"}) attributes {loop.num_outputs = 0 : i64} {
  func.call @other(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.return
}
func.func private @other(%x: memref<4xf32>) {
  func.return
}
func.func private @k(memref<4xf32>) attributes {loop.kernel, loop.num_outputs = 0 : i64}
// -----

// 17 kernel calls without control flow: sizes determine the duration of a run.
// CHECK: builtin.module attributes {{{.*}}xrelay.straight, xrelay.polls}
// CHECK-LABEL: func.func @main
// CHECK-COUNT-17: cf.assert %goes_on{{.*}}, "cancelled"
func.func @main(%x: memref<4xf32> {relay.name = "x"}) attributes {loop.num_outputs = 0 : i64} {
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.call @k(%x) : (memref<4xf32>) -> ()
  func.return
}
func.func private @k(memref<4xf32>) attributes {loop.kernel, loop.num_outputs = 0 : i64}

// -----

// A loop with a number of iterations that is known before the run: sizes determine the duration of a run.
// CHECK: builtin.module attributes {{{.*}}xrelay.straight, xrelay.polls}
// CHECK-LABEL: func.func @counted
func.func @counted(%x: memref<4xf32> {relay.name = "x"}) attributes {loop.num_outputs = 0 : i64} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %r = scf.while (%k = %zero) : (index) -> index {
    %more = arith.cmpi slt, %k, %three : index
    scf.condition(%more) %k : index
  } do {
  ^bb0(%k: index):
    func.call @k(%x) : (memref<4xf32>) -> ()
    %next = arith.addi %k, %one : index
    scf.yield %next : index
  }
  func.return
}
func.func private @k(memref<4xf32>) attributes {loop.kernel, loop.num_outputs = 0 : i64}

// -----

// An element of an input determines the number of iterations, or when the loop ends.
// CHECK: builtin.module attributes {
// CHECK-NOT: xrelay.straight
// CHECK-SAME: xrelay.polls}
// CHECK-LABEL: func.func @read
func.func @read(%n: memref<index>, %x: memref<4xf32> {relay.name = "x"}) attributes {loop.num_outputs = 0 : i64} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %times = memref.load %n[] : memref<index>
  %r = scf.while (%k = %times) : (index) -> index {
    %more = arith.cmpi slt, %zero, %k : index
    scf.condition(%more) %k : index
  } do {
  ^bb0(%k: index):
    func.call @k(%x) : (memref<4xf32>) -> ()
    %next = arith.subi %k, %one : index
    scf.yield %next : index
  }
  func.return
}
func.func private @k(memref<4xf32>) attributes {loop.kernel, loop.num_outputs = 0 : i64}

// -----

// CHECK: builtin.module attributes {
// CHECK-NOT: xrelay.straight
// CHECK-SAME: xrelay.polls}
// CHECK-LABEL: func.func @carried
func.func @carried(%n: memref<index>, %x: memref<4xf32> {relay.name = "x"}) attributes {loop.num_outputs = 0 : i64} {
  %zero = arith.constant 0 : index
  %r = scf.while (%k = %zero) : (index) -> index {
    %more = arith.cmpi eq, %k, %zero : index
    scf.condition(%more) %k : index
  } do {
  ^bb0(%k: index):
    func.call @k(%x) : (memref<4xf32>) -> ()
    %next = memref.load %n[] : memref<index>
    scf.yield %next : index
  }
  func.return
}
func.func private @k(memref<4xf32>) attributes {loop.kernel, loop.num_outputs = 0 : i64}
