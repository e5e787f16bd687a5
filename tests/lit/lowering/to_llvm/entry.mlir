// RUN: xrelay-opt %s -p convert-memref-to-llvm,convert-arith-to-llvm,convert-func-to-llvm | filecheck %s

// Assertions in functions with named sizes are checks with the status 6 | (number + 1) << 8; equal checks are merged.
// CHECK: xrelay.checks = [{text = "shape mismatch: n >= 1", requires = #relay.requirements<n >= 1>, sources = ["pool"]}, {text = "out of memory: too much"}]

// CHECK-LABEL: llvm.func @main(
// CHECK: llvm.mlir.constant(262 : i32)
// CHECK: llvm.mlir.constant(518 : i32)
// CHECK: llvm.mlir.constant(518 : i32)
func.func @main(%x: memref<?xf32>, %arena: memref<?xi8>, %n: index {xrelay.dim = "n"}) {
  %one = arith.constant 1 : index
  %fine = arith.cmpi sge, %n, %one : index
  cf.assert %fine, "shape mismatch: n >= 1" {relay.requires = #relay.requirements<n >= 1>, xrelay.sources = ["pool"]}
  cf.assert %fine, "out of memory: too much"
  cf.assert %fine, "out of memory: too much"
  func.return
}

func.func @main_plan(%sizes: memref<1xi64>, %n: index {xrelay.dim = "n"}) {
  func.return
}

// After the pointers, the array has a pointer to the sizes of names.
// CHECK-LABEL: llvm.func @xrelay_entry(%ctx{{.*}}: !llvm.ptr, %args: !llvm.ptr) -> i32
// CHECK: %[[ARENA:.*]] = llvm.getelementptr inbounds %args[1]
// CHECK: llvm.load %[[ARENA]]
// CHECK: %[[PLACE:.*]] = llvm.getelementptr inbounds %args[2]
// CHECK: %[[DIMS:.*]] = llvm.load %[[PLACE]]
// CHECK: %[[FIRST:.*]] = llvm.getelementptr inbounds %[[DIMS]][0] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK: llvm.load %[[FIRST]] {alignment = 8 : i64} : !llvm.ptr -> i64
// CHECK: llvm.call @main(

// CHECK-LABEL: llvm.func @xrelay_plan(%ctx{{.*}}: !llvm.ptr, %dims: !llvm.ptr, %sizes{{.*}}: !llvm.ptr) -> i32
// CHECK: %[[N:.*]] = llvm.load
// CHECK: llvm.call @main_plan(%ctx{{.*}}, %sizes{{.*}}, %[[N]])
