// RUN: xrelay-opt %s -p convert-func-to-llvm | filecheck %s

// CHECK:       xrelay.kernels = [{name = "fine"}, {name = "checked", sources = ["first"]}, {name = "chosen"}, {name = "declared"}]
// CHECK-SAME:  xrelay.calls = [{name = "checked", sources = ["second"]}]

// The caller of a kernel adds its number to the returned reason: 2 << 8 for the second private function. The first
// function cannot fail, and needs no number.
// CHECK-LABEL: llvm.func @main
// CHECK:         llvm.call @fine
// CHECK:         llvm.cond_br {{.*}}, ^{{.*}}, ^[[EXIT:bb[0-9]+]](
// CHECK:         llvm.call @checked
// CHECK:         llvm.cond_br {{.*}}, ^{{.*}}, ^[[NUMBERED:bb[0-9]+]](
// CHECK:         llvm.call @chosen
// CHECK:         llvm.call @declared
// CHECK:         llvm.mlir.constant(1024 : i32) : i32
// CHECK:         llvm.mlir.constant(768 : i32) : i32
// CHECK:       ^[[NUMBERED]]([[STATUS:%.*]]: i32):
// CHECK-NEXT:    [[BITS:%.*]] = llvm.mlir.constant(512 : i32) : i32
// CHECK-NEXT:    [[NAMED:%.*]] = llvm.or [[STATUS]], [[BITS]] : i32
// CHECK-NEXT:    llvm.br ^[[EXIT]]([[NAMED]] : i32)
func.func @main(%c: i1) {
  func.call @fine(%c) : (i1) -> ()
  func.call @checked(%c) : (i1) -> ()
  func.call @chosen(%c) : (i1) -> ()
  func.call @declared(%c) : (i1) -> ()
  func.return
}

// A call for another node than the kernel names has a number after those of the functions; equal calls share it.
// CHECK-LABEL: llvm.func @again
// CHECK:         llvm.mlir.constant(1280 : i32) : i32
// CHECK:         llvm.mlir.constant(512 : i32) : i32
// CHECK-NOT:     llvm.mlir.constant({{[0-9]+}} : i32) : i32
// CHECK:       }
func.func @again(%c: i1) {
  func.call @checked(%c) : (i1) -> () loc("first")
  func.call @checked(%c) : (i1) -> () loc("second")
  func.call @checked(%c) : (i1) -> () loc("second")
  func.return
}

func.func private @fine(%c: i1) attributes {loop.kernel} {
  func.return
}

// The kernel and its parts return only the reason.
// CHECK-LABEL: llvm.func @checked
// CHECK:         llvm.mlir.constant(2 : i32) : i32
// CHECK-LABEL: llvm.func @checked_parallel_0
// CHECK:         llvm.mlir.constant(4 : i32) : i32
func.func private @checked(%c: i1) attributes {loop.kernel, xrelay.sources = ["first"]} {
  cf.assert %c, "index out of range"
  func.call @checked_parallel_0(%c) : (i1) -> ()
  func.return
}
func.func private @checked_parallel_0(%c: i1) attributes {xrelay.kernel = "checked"} {
  cf.assert %c, "division by zero"
  func.return
}

// A kernel that chooses between its parts returns their status.
// CHECK-LABEL: llvm.func @chosen
// CHECK-NOT:     llvm.or
// CHECK-LABEL: llvm.func @chosen_any
func.func private @chosen(%c: i1) {
  func.call @chosen_any(%c) : (i1) -> ()
  func.return
}
func.func private @chosen_any(%c: i1) attributes {loop.kernel, xrelay.kernel = "chosen"} {
  cf.assert %c, "index out of range"
  func.return
}

// A kernel of another module has a number in this one.
func.func private @declared(i1) attributes {loop.kernel, xrelay.may_fail}
