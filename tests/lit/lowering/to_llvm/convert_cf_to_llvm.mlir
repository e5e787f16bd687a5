// RUN: xrelay-opt %s -p convert-cf-to-llvm | filecheck %s

// CHECK-LABEL: func.func @loop
// CHECK:       [[N:%.*]] = builtin.unrealized_conversion_cast %n : index to i64
// CHECK:       llvm.br ^[[HEADER:.*]]([[N]] : i64)
// CHECK:       ^[[HEADER]](%i: i64):
// CHECK:       llvm.cond_br %c, ^[[HEADER]](%i : i64), ^[[AFTER:.*]] {loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
// CHECK:       ^[[AFTER]]:
func.func @loop(%n: index, %c: i1) {
  cf.br ^header(%n : index)
^header(%i: index):
  cf.cond_br %c, ^header(%i : index), ^after {llvm.loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
^after:
  func.return
}

// Assertions are part of the calling convention.
// CHECK-LABEL: func.func @assertion
// CHECK-NEXT:  cf.assert %c, "no"
func.func @assertion(%c: i1) {
  cf.assert %c, "no"
  func.return
}
