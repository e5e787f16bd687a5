// A long loop whose stores all depend on an empty buffer runs zero times.
// RUN: xrelay-opt %s -p convert-loop-to-scf | filecheck %s

// The accumulator is read after the loop, and each store to it follows a load of %x.
// CHECK-LABEL: @sum
// CHECK: %[[none:.*]] = arith.cmpi eq, %m, %{{.*}} : index
// CHECK-NEXT: %[[rows:.*]] = arith.select %[[none]], %{{.*}}, %n : index
// CHECK-NEXT: scf.for %i = %{{.*}} to %[[rows]]
// CHECK-NEXT: scf.for %j = %{{.*}} to %m
func.func private @sum(%x: memref<?x?xf32> {loop.extents = array<i64: 0, 1>}, %y: memref<f32>, %n: index, %m: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to %n {
    loop.for "j" %j to %m {
      %a = loop.load %y[] : memref<f32>
      %b = loop.load %x[%i, %j] : memref<?x?xf32>
      %c = arith.addf %a, %b : f32
      loop.store %c, %y[] : memref<f32>
    }
  }
  func.return
}

// A static extent is tested if it is large; a buffer that is used only inside of the loop is not.
// CHECK-LABEL: @rows
// CHECK: %[[none:.*]] = arith.cmpi eq, %m, %{{.*}} : index
// CHECK-NEXT: %[[rows:.*]] = arith.select %[[none]], %{{.*}}, %{{.*}} : index
// CHECK: scf.for %i = %{{.*}} to %[[rows]]
func.func private @rows(%y: memref<35184372088832x?xf32> {loop.extents = array<i64: 0>}, %m: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  %one = arith.constant 1.0 : f32
  loop.for "i" %i to 35184372088832 {
    %t = memref.alloc() : memref<f32, "local">
    loop.store %one, %t[] : memref<f32, "local">
    loop.for "j" %j to %m {
      %v = loop.load %t[] : memref<f32, "local">
      loop.store %v, %y[%i, %j] : memref<35184372088832x?xf32>
    }
    memref.dealloc %t : memref<f32, "local">
  }
  func.return
}

// Some iterations store without the buffer: the loop runs.
// CHECK-LABEL: @padded
// CHECK-NOT: arith.select
// CHECK: scf.for %i = %{{.*}} to %n
func.func private @padded(%x: memref<?xf32> {loop.extents = array<i64: 1>}, %y: memref<?xf32> {loop.extents = array<i64: 0>},
                          %n: index, %m: index) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  loop.for "i" %i to %n {
    %inside = arith.cmpi slt, %i, %m : index
    %v = scf.if %inside -> (f32) {
      %b = loop.load %x[%i] : memref<?xf32>
      scf.yield %b : f32
    } else {
      scf.yield %zero : f32
    }
    loop.store %v, %y[%i] : memref<?xf32>
  }
  func.return
}
