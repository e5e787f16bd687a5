// RUN: xrelay-opt %s -p convert-func-to-llvm | filecheck %s

// CHECK-LABEL: llvm.func @k(!llvm.ptr, !llvm.ptr, i64) -> i32
func.func private @k(memref<4xf32>, index)

// A callee's status is returned at once if it is not 0.
// CHECK-LABEL: llvm.func @main
// CHECK-SAME:  (%ctx: !llvm.ptr, %x: !llvm.ptr {llvm.noalias}, %n: i64) -> i32
// CHECK-NEXT:    [[S:%.*]] = llvm.call @k(%ctx, %x, %n) : (!llvm.ptr, !llvm.ptr, i64) -> i32
// CHECK-NEXT:    [[ZERO:%.*]] = llvm.mlir.constant(0 : i32) : i32
// CHECK-NEXT:    [[OK:%.*]] = llvm.icmp "eq" [[S]], [[ZERO]] : i32
// CHECK-NEXT:    llvm.cond_br [[OK]], ^[[REST:.*]], ^[[EXIT:.*]]([[S]] : i32)
// CHECK:       ^[[REST]]:
// CHECK:         llvm.return {{.*}} : i32
// CHECK:       ^[[EXIT]](%status: i32):
// CHECK-NEXT:    llvm.return %status : i32
func.func @main(%x: memref<4xf32> {llvm.noalias}, %n: index) {
  func.call @k(%x, %n) : (memref<4xf32>, index) -> ()
  func.return
}

// A failed assertion in the first private function: reason 2, kernel 0.
// CHECK-LABEL: llvm.func @checked
// CHECK:         [[STATUS:%.*]] = llvm.mlir.constant(258 : i32) : i32
// CHECK:         llvm.cond_br %c, ^{{.*}}, ^[[FAIL:.*]]([[STATUS]] : i32)
// CHECK:       ^[[FAIL]]([[ST:%.*]]: i32):
// CHECK:         llvm.cmpxchg %ctx{{.*}}, {{.*}}, [[ST]] monotonic monotonic : !llvm.ptr, i32
// CHECK-NEXT:    llvm.return [[ST]] : i32
func.func private @checked(%c: i1) {
  cf.assert %c, "index out of range: take"
  func.return
}

// CHECK-LABEL: llvm.func @address
// CHECK:         llvm.mlir.addressof @k : !llvm.ptr
func.func @address() {
  %f = func.constant @k : (memref<4xf32>, index) -> ()
  func.return
}

// An always-inlined function keeps its result type, and has neither context nor status.
// CHECK-LABEL: llvm.func @calls_inline
// CHECK-SAME:    !llvm.ptr, [[X:%.*]]: f32) -> i32
// CHECK-NEXT:    llvm.call @twice([[X]]) : (f32) -> f32
// CHECK-NEXT:    llvm.mlir.constant(0 : i32)
// CHECK-NEXT:    llvm.return
func.func @calls_inline(%x: f32) {
  %y = func.call @twice(%x) : (f32) -> f32
  func.return
}

// CHECK-LABEL: llvm.func internal @twice
// CHECK-SAME:    ([[Z:%.*]]: f32) -> f32 attributes {always_inline}
// CHECK-NEXT:    [[Y:%.*]] = llvm.fadd [[Z]], [[Z]]
// CHECK-NEXT:    llvm.return [[Y]] : f32
func.func private @twice(%x: f32) -> f32 attributes {llvm.always_inline} {
  %y = llvm.fadd %x, %x : f32
  func.return %y : f32
}

// The entry loads the pointers of @main.
// CHECK-LABEL: llvm.func @xrelay_entry
// CHECK:         llvm.getelementptr inbounds %args[0]
// CHECK:         llvm.getelementptr inbounds %args[1]
// CHECK:         [[R:%.*]] = llvm.call @main({{.*}}) : (!llvm.ptr, !llvm.ptr, i64) -> i32
// CHECK-NEXT:    llvm.return [[R]] : i32
