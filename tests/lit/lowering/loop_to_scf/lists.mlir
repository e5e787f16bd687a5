// RUN: xrelay-opt %s -p convert-loop-to-scf | filecheck %s
// RUN: xrelay-opt %s -p convert-loop-to-scf | %mlir_opt --allow-unregistered-dialect > /dev/null
// REQUIRES: mlir-opt

// An op consumes the list that it changes: the argument belongs to the caller, and %a is used again.
// CHECK-LABEL: @references(%l: memref<?xi64>,
func.func @references(%l: !loop.list<f32>, %x: memref<4xf32>, %at: index) -> (!loop.list<f32>, !loop.list<f32>) {
  // CHECK: func.call @xrelay_list_retain(%l)
  // CHECK: [[A:%.*]] = func.call @xrelay_list_erase(%l, %at)
  %a = loop.list_erase %l at %at : !loop.list<f32>
  // CHECK: func.call @xrelay_list_retain([[A]])
  // CHECK: [[ITEM:%.*]] = func.call @xrelay_list_item(
  // CHECK: [[B:%.*]] = func.call @xrelay_list_insert([[A]], %at, [[ITEM]])
  // CHECK: cf.assert {{.*}}, "out of memory: a sequence"
  %b = loop.list_insert %x[] in %a at %at : memref<4xf32> in !loop.list<f32>
  // CHECK-NOT: xrelay_list_re
  // CHECK: func.return [[A]], [[B]]
  func.return %a, %b : !loop.list<f32>, !loop.list<f32>
}

// A branch takes ownership of a list without later uses; other lists are released.
// CHECK-LABEL: @branches
func.func @branches(%c: i1, %x: memref<4xf32>, %at: index) -> !loop.list<f32> {
  // CHECK: [[L:%.*]] = func.call @xrelay_list_new()
  %l = loop.list_empty : !loop.list<f32>
  %r = scf.if %c -> (!loop.list<f32>) {
    // CHECK-NOT: retain
    // CHECK: func.call @xrelay_list_insert([[L]]
    %m = loop.list_insert %x[] in %l at %at : memref<4xf32> in !loop.list<f32>
    scf.yield %m : !loop.list<f32>
  } else {
    // CHECK: } else {
    // CHECK-NEXT: func.call @xrelay_list_release([[L]])
    %n = loop.list_empty : !loop.list<f32>
    scf.yield %n : !loop.list<f32>
  }
  func.return %r : !loop.list<f32>
}

// CHECK-LABEL: @reads
func.func @reads(%x: memref<?x4xf32>, %n: index, %at: index) {
  %l = loop.list_empty : !loop.list<f32>
  // CHECK: func.call @xrelay_list_read({{.*}})
  loop.list_read_part %l at %at into %x[%n] from %at {axis = 1 : i64} : !loop.list<f32> into memref<?x4xf32>
  // CHECK-NEXT: func.call @xrelay_list_release
  func.return
}
