// RUN: xrelay-opt %s -p loop-plan-memory --split-input-file --verify-diagnostics | filecheck %s

// A kernel in a separate module takes its top-level allocations as an argument, which overlaps no other argument.
// CHECK-LABEL: func.func private @alone
// CHECK-SAME:    %t: memref<?xf32> {loop.extents = array<i64: 0>, llvm.noalias}, %n: index
// CHECK-NOT:     loop.takes_scratch
// CHECK-SAME:    loop.num_scratch = 1
// CHECK-NOT:     memref.alloc
func.func private @alone(%x: memref<?xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.takes_scratch} {
  %t = memref.alloc(%n) : memref<?xf32>
  "test.op"(%t) : (memref<?xf32>) -> ()
  func.return
}

// -----

// The code of a declared kernel relies on the facts about its arguments from when it was compiled.
// expected-error@unknown {{argument 0 of @declared overlaps another one, which its code does not allow}}
"func.func"() <{function_type = (memref<4xf32>, memref<4xf32>) -> (), sym_name = "declared",
  sym_visibility = "private", arg_attrs = [{llvm.noalias}, {}]}> ({}) {loop.kernel} : () -> ()
func.func @main(%x: memref<4xf32>) {
  func.call @declared(%x, %x) : (memref<4xf32>, memref<4xf32>) -> ()
  func.return
}
