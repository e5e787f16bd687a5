// RUN: xrelay-opt %s -p stage-typed,stage-lifted,relay-select-entry | filecheck %s --check-prefix=MAIN
// RUN: xrelay-opt %s -p "stage-typed,stage-lifted,relay-select-entry{entry=main_result0}" | filecheck %s --check-prefix=CALLER
// RUN: not xrelay-opt %s -p "stage-typed,stage-lifted,relay-select-entry{entry=main_result2}" 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: xrelay-opt %s -p relay-infer-type,relay-select-entry | filecheck %s --check-prefix=UNCHANGED

!t = tensor<3xf32>
!f = (!t) -> !t

// MAIN:       func.func @main(%x: tensor<3xf32>) -> (!relay.closure) {
// MAIN-NEXT:    {{.*}} = relay.closure_construct(%x) {number = 0}
// MAIN-NEXT:    func.return
// MAIN-NOT:   func.func

// The former @main is not used.
// CALLER:       func.func @main(%{{.*}}: !relay.closure {relay.name = "function"}, %{{.*}}: tensor<3xf32> {relay.name = "input0"}) -> tensor<3xf32> {
// CALLER-NEXT:    {{.*}} = relay.closure_captured
// CALLER-NEXT:    {{.*}} = relay.add
// CALLER-NOT:   func.func

// UNKNOWN: relay-select-entry: no entry is called @main_result2; help: did you mean '@main_result0'?

// A module without callers.
// UNCHANGED: func.func @main
// UNCHANGED:   relay.fn
// UNCHANGED: func.func private @other
func.func @main(%x: !t) -> (!f {}) {
  %f = relay.fn(%a : !t) -> !t {
    %s = relay.add(%a, %x) : (!t, !t) -> !t
    relay.yield %s : !t
  }
  func.return %f : !f
}

func.func private @other(%x: !t) -> !t {
  func.return %x : !t
}
