// RUN: xrelay-opt %s -p convert-topi-to-loop | filecheck %s
// RUN: xrelay-opt %s -p convert-topi-to-loop,loop-plan-memory | filecheck %s --check-prefix PLAN

!m = tensor<?xf32, #relay.dims<m>>
!n = tensor<?xf32, #relay.dims<n>>
!k = tensor<?xf32, #relay.dims<k>>
!p = tensor<?xf32, #relay.dims<p>>
!e = tensor<1xi64>

// The callee takes a buffer for each result of known size, and the sizes; it returns others with extents.
// The call's requirements are asserted as soon as they are known, those on its results after it.
// CHECK-LABEL: func.func @main
// CHECK:         %[[D:.*]] = memref.alloc(%m) : memref<?xf32>
// CHECK:         %[[B:.*]], %[[K:.*]] = func.call @made(%x, %e, %[[D]], %m) : (memref<?xf32>, memref<1xi64>, memref<?xf32>, index) -> (memref<?xf32>, index)
// CHECK-NEXT:    %[[H:.*]] = arith.cmpi eq, %[[K]], %m
// CHECK-NEXT:    cf.assert %[[H]], "shape mismatch: [relay.call C0] result extent: extent 0 of relay.call == m"
// A returned buffer is freed after its last use.
// PLAN-LABEL:  func.func @main
// PLAN:          %[[B:.*]], %{{.*}} = func.call @made
// PLAN:          func.call @first(%[[B]]
// PLAN-NEXT:     memref.dealloc %[[B]] : memref<?xf32>
func.func @main(%x: !m, %e: !e) -> !e {
  %d, %c = relay.call @made<n = m, p = k>(%x, %e) {relay.binds = #relay.bounds<k>, relay.requires = #relay.requirements<k == m "C0 result extent">}
    : (!m, !e) -> (!m, !k)
  %s = func.call @first(%c) : (!k) -> !e
  func.return %s : !e
}

// The callee's names are distinct from those of @main, whose sizes an error may print.
// CHECK-LABEL: func.func private @made(%x: memref<?xf32> {loop.dims = #relay.dims<n>}, %e: memref<1xi64>, %d: memref<?xf32> {loop.dims = #relay.dims<n>}, %n: index {xrelay.dim = "n"}) -> (memref<?xf32>
// CHECK:         relay.requires = #relay.requirements<n_of_made >= 1>
// CHECK:         func.call @double(%x, %d, %n)
// CHECK:         func.return %{{.*}}, %p : memref<?xf32>, index
// Its buffers of known size are one allocation, as @main is not its only caller.
// PLAN-LABEL:  func.func private @made
// PLAN:          %frame = memref.alloc() : memref<128xi8>
// PLAN-DAG:      memref.view %frame
// PLAN-DAG:      memref.view %frame
func.func private @made(%x: !n, %e: !e) -> (!n, !p) {
  %d = func.call @double(%x) {relay.requires = #relay.requirements<n >= 1>} : (!n) -> !n
  %f = func.call @next(%e) : (!e) -> !e
  %g = func.call @next(%f) : (!e) -> !e
  %v = relay.extents(%g) {relay.binds = #relay.bounds<p>} : (!e) -> !e
  %c = func.call @fill(%v) : (!e) -> !p
  func.return %d, %c : !n, !p
}

func.func private @other(%x: !n, %e: !e) -> !n {
  %d, %c = relay.call @made<n = n, p = k>(%x, %e) {relay.binds = #relay.bounds<k>} : (!n, !e) -> (!n, !k)
  func.return %d : !n
}

func.func private @double(%x: !n) -> !n attributes {relay.primitive} {
  %r = topi.compute "double" [%i : n] : !n {
    %0 = topi.read %x[%i] : !n
    %1 = arith.addf %0, %0 : f32
    topi.yield %1 : f32
  }
  func.return %r : !n
}
func.func private @first(%x: !k) -> !e attributes {relay.primitive} {
  %r = topi.compute "first" [%i : 1] : !e {
    %0 = topi.read %x[%i] : !k
    %1 = arith.fptosi %0 : f32 to i64
    topi.yield %1 : i64
  }
  func.return %r : !e
}
func.func private @next(%x: !e) -> !e attributes {relay.primitive} {
  %r = topi.compute "next" [%i : 1] : !e {
    %0 = topi.read %x[%i] : !e
    %1 = arith.sitofp %0 : i64 to f64
    %2 = arith.fptosi %1 : f64 to i64
    topi.yield %2 : i64
  }
  func.return %r : !e
}
func.func private @fill(%x: !e) -> !p attributes {relay.primitive} {
  %r = topi.compute "fill" [%i : p] : !p {
    %0 = topi.read %x[0] : !e
    %1 = arith.sitofp %0 : i64 to f32
    topi.yield %1 : f32
  }
  func.return %r : !p
}
