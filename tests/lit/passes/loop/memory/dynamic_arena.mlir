// RUN: xrelay-opt %s --split-input-file -p loop-plan-memory | filecheck %s
// RUN: xrelay-opt %s --split-input-file -p loop-plan-memory | xrelay-opt --split-input-file | filecheck %s

// A kernel's scratch precedes its extents. Buffers of one unit share a region, which grows with the unit.
// CHECK-LABEL: func.func private @k(
// CHECK-SAME: %t: memref<?x2xf32> {loop.extents = array<i64: 0>, llvm.noalias}, %n: index) attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.num_scratch = 1 : i64}
func.func private @k(%a: memref<?x256xf32>, %b: memref<?x256xf32>, %n: index) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  %t = memref.alloc(%n) : memref<?x2xf32>
  "test.op"(%t) : (memref<?x2xf32>) -> ()
  func.return
}

// CHECK: func.func @main(%x: memref<?x256xf32> {loop.dims = #relay.dims<n>}, %y: memref<?x256xf32> {loop.dims = #relay.dims<n>}, %arena: memref<?xi8> {loop.arena}, %n: index {xrelay.dim = "n"})
// CHECK: cf.assert {{.*}}, "shape mismatch: n >= 1"
// CHECK: cf.assert {{.*}}, "out of memory: the buffers of @main do not fit in 64 bits"
// Two of the three large buffers are live at once, 1,024 bytes for each of n; the scratch has 8 bytes per rounded-up n.
// CHECK: %[[C2048:.*]] = arith.constant 2048 : index
// CHECK: %[[BOTH:.*]] = arith.muli %n, %[[C2048]] : index
// CHECK: %[[UP:.*]] = arith.andi
// CHECK: %[[C8:.*]] = arith.constant 8 : index
// CHECK: arith.muli %[[UP]], %[[C8]] : index
// CHECK: %[[C1024:.*]] = arith.constant 1024 : index
// CHECK: %[[SECOND:.*]] = arith.muli %n, %[[C1024]] : index
// CHECK: memref.view %arena[%[[ZERO:.*]]][%n] : memref<?xi8> to memref<?x256xf32>
// CHECK: memref.view %arena[%[[SECOND]]][%n] : memref<?xi8> to memref<?x256xf32>
// CHECK: memref.view %arena[%[[ZERO]]][%n] : memref<?xi8> to memref<?x256xf32>
// CHECK: memref.view %arena[%[[BOTH]]][%n] : memref<?xi8> to memref<?x2xf32>
// CHECK-NOT: memref.alloc

// CHECK: func.func @main_plan(%sizes: memref<5xi64>, %n: index {xrelay.dim = "n"}) {
// CHECK: cf.assert {{.*}}, "shape mismatch: n >= 1"
// CHECK: cf.assert {{.*}}, "out of memory: the buffers of @main do not fit in 64 bits"
// CHECK: memref.store {{.*}}, %sizes[{{.*}}] : memref<5xi64>
// CHECK: %[[N:.*]] = arith.index_cast %n : index to i64
// CHECK: memref.store %[[N]], %sizes[{{.*}}] : memref<5xi64>
func.func @main(%x: memref<?x256xf32> {loop.dims = #relay.dims<n>}, %y: memref<?x256xf32> {loop.dims = #relay.dims<n>}, %n: index {xrelay.dim = "n"}) attributes {loop.num_outputs = 1 : i64} {
  %c1 = arith.constant 1 : index
  %ok = arith.cmpi sge, %n, %c1 : index
  cf.assert %ok, "shape mismatch: n >= 1"
  %s = memref.alloc(%n) : memref<?x256xf32>
  %t = memref.alloc(%n) : memref<?x256xf32>
  %u = memref.alloc(%n) : memref<?x256xf32>
  func.call @k(%x, %s, %n) : (memref<?x256xf32>, memref<?x256xf32>, index) -> ()
  func.call @k(%s, %t, %n) : (memref<?x256xf32>, memref<?x256xf32>, index) -> ()
  func.call @k(%t, %u, %n) : (memref<?x256xf32>, memref<?x256xf32>, index) -> ()
  func.call @k(%u, %y, %n) : (memref<?x256xf32>, memref<?x256xf32>, index) -> ()
  func.return
}

// -----

// Regions that are not live at once share a slot of the larger size.
// CHECK-LABEL: func.func private @f
func.func private @f(%a: memref<?x256xf32>, %n: index) attributes {loop.kernel} {
  func.return
}

// CHECK: func.func @main(
// CHECK: %[[A:.*]] = arith.muli %n, %{{.*}} : index
// CHECK: %[[B:.*]] = arith.muli %m, %{{.*}} : index
// CHECK: arith.maxsi %[[A]], %[[B]] : index
// CHECK: memref.view %arena[%[[SAME:.*]]][%n]
// CHECK: memref.view %arena[%[[SAME]]][%m]
func.func @main(%n: index {xrelay.dim = "n"}, %m: index {xrelay.dim = "m"}) attributes {loop.num_outputs = 0 : i64} {
  %s = memref.alloc(%n) : memref<?x256xf32>
  func.call @f(%s, %n) : (memref<?x256xf32>, index) -> ()
  %t = memref.alloc(%m) : memref<?x256xf32>
  func.call @f(%t, %m) : (memref<?x256xf32>, index) -> ()
  func.return
}

// -----

// The bytes of buffers of static extent are one constant in the check of the sum of all sizes.
// CHECK-LABEL: func.func private @mixed
// CHECK: arith.constant 2.048000e+03 : f64
// CHECK-NEXT: arith.constant 1.024000e+03 : f64
// CHECK-NEXT: arith.index_cast %n
// CHECK: arith.addf
// CHECK-NEXT: arith.addf
// CHECK-NOT: arith.addf
// CHECK: cf.assert {{.*}}, "out of memory: the buffers of @main do not fit in 64 bits"
func.func private @mixed(%a: memref<?x256xf32>, %b: memref<256xf32>, %n: index) attributes {loop.kernel}
func.func @main(%n: index {xrelay.dim = "n"}) attributes {loop.num_outputs = 0 : i64} {
  %s = memref.alloc(%n) : memref<?x256xf32>
  %t = memref.alloc() : memref<256xf32>
  func.call @mixed(%s, %t, %n) : (memref<?x256xf32>, memref<256xf32>, index) -> ()
  func.return
}

// -----

// With static extents the arena is planned at compile time.
// CHECK-LABEL: func.func @main(%arena: memref<4096xi8> {loop.arena})
// CHECK: memref.view %arena[%{{.*}}][%c4] : memref<4096xi8> to memref<?x256xf32>
func.func private @g(%a: memref<?x256xf32>, %n: index) attributes {loop.kernel}
func.func @main() attributes {loop.num_outputs = 0 : i64} {
  %c4 = arith.constant 4 : index
  %s = memref.alloc(%c4) : memref<?x256xf32>
  func.call @g(%s, %c4) : (memref<?x256xf32>, index) -> ()
  func.return
}
