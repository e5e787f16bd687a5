// RUN: xrelay-opt %s -p loop-merge-kernels | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK:         func.call @double(%x, %r, %n)
// CHECK:         func.call @double(%y, %s, %m)
// CHECK:         func.call @another(%y, %s, %m)
// CHECK:         func.call @fixed_1(
func.func @main(%x: memref<?xf32>, %y: memref<?xf32>, %r: memref<?xf32>, %s: memref<?xf32>, %z: memref<4xf32>,
                %n: index, %m: index) {
  func.call @double(%x, %r, %n) : (memref<?xf32>, memref<?xf32>, index) -> ()
  func.call @double_1(%y, %s, %m) : (memref<?xf32>, memref<?xf32>, index) -> ()
  func.call @another(%y, %s, %m) : (memref<?xf32>, memref<?xf32>, index) -> ()
  func.call @fixed(%z) : (memref<4xf32>) -> ()
  func.call @fixed_1(%z) : (memref<4xf32>) -> ()
  func.return
}

// Kernels are equal whatever the names and ranges of their extents, their nodes, and the names of values.
// CHECK:       func.func private @double
// CHECK-SAME:    %n: index) attributes
// CHECK-SAME:    xrelay.sources = ["relu1", "relu2"]
// CHECK-NOT:   @double_1
func.func private @double(%x: memref<?xf32> {loop.extents = array<i64: 0>}, %r: memref<?xf32> {loop.extents = array<i64: 0>}, %n: index {loop.size = array<i64: 1, 9, 1>})
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.dims = #relay.dims<2 * n + 1>, xrelay.sources = ["relu1"]} {
  loop.for "i" %i to %n {
    %0 = loop.load %x[%i] : memref<?xf32>
    %1 = arith.addf %0, %0 : f32
    loop.store %1, %r[%i] : memref<?xf32>
  }
  func.return
}
func.func private @double_1(%a: memref<?xf32> {loop.extents = array<i64: 0>}, %b: memref<?xf32> {loop.extents = array<i64: 0>}, %extent: index {loop.size = array<i64: 1, 9, 8>})
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.dims = #relay.dims<k>, xrelay.sources = ["relu2"]} {
  loop.for "i" %j to %extent {
    %0 = loop.load %a[%j] : memref<?xf32>
    %1 = arith.addf %0, %0 : f32
    loop.store %1, %b[%j] : memref<?xf32>
  }
  func.return
}

// Loop bodies are compared: these differ.
// CHECK:       func.func private @another
func.func private @another(%x: memref<?xf32> {loop.extents = array<i64: 0>}, %r: memref<?xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.dims = #relay.dims<n>} {
  loop.for "i" %i to %n {
    %0 = loop.load %x[%i] : memref<?xf32>
    %1 = arith.mulf %0, %0 : f32
    loop.store %1, %r[%i] : memref<?xf32>
  }
  func.return
}

// Unchanged: kernels without extents, and kernels that other modules may call.
// CHECK:       func.func private @fixed
// CHECK:       func.func private @fixed_1
// CHECK:       func.func @public_1
// CHECK:       func.func @public_2
func.func private @fixed(%x: memref<4xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func private @fixed_1(%x: memref<4xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func @public_1(%x: memref<?xf32> {loop.extents = array<i64: 0>}, %n: index) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
func.func @public_2(%x: memref<?xf32> {loop.extents = array<i64: 0>}, %n: index) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
