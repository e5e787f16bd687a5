// RUN: xrelay-opt %s -p loop-apply-schedules | filecheck %s
// RUN: xrelay-opt %s -p loop-apply-schedules,loop-apply-schedules | filecheck %s

// CHECK-LABEL: @scheduled
// CHECK-NOT: loop.schedule
// CHECK: loop.for "r_o" %r_o to 2 parallel {
// CHECK-NEXT: loop.for "r_i" %r_i to 4 {
// CHECK-NEXT: %T = memref.alloc() : memref<f32, "local">
// CHECK: loop.for "c" %c to 32 vectorized {
func.func private @scheduled(%X: memref<8x32xf32>, %Y: memref<8x32xf32>) attributes {loop.kernel, loop.schedule = #loop.schedule<[compute_at("max", "r"), split("r", 4), parallelize("r_o"), vectorize("c")]>} {
  %T = memref.alloc() : memref<8xf32>
  loop.for "i" %i to 8 {
    loop.for "k" %k to 32 {
      loop.block "max" (%vi : spatial 8 = %i, %vk : reduce 32 = %k) reads(%X) writes(%T) init {
        %low = arith.constant 0xFF800000 : f32
        loop.store %low, %T[%vi] : memref<8xf32>
      } {
        %x = loop.load %X[%vi, %vk] : memref<8x32xf32>
        %t = loop.load %T[%vi] : memref<8xf32>
        %m = arith.maximumf %x, %t : f32
        loop.store %m, %T[%vi] : memref<8xf32>
      }
    }
  }
  loop.for "r" %r to 8 {
    loop.for "c" %c to 32 {
      loop.block "shift" (%vr : spatial 8 = %r, %vc : spatial 32 = %c) reads(%X, %T) writes(%Y) {
        %x = loop.load %X[%vr, %vc] : memref<8x32xf32>
        %t = loop.load %T[%vr] : memref<8xf32>
        %d = arith.subf %x, %t : f32
        loop.store %d, %Y[%vr, %vc] : memref<8x32xf32>
      }
    }
  }
  func.return
}

// A kernel without a schedule is unchanged.
// CHECK-LABEL: @unscheduled
// CHECK: loop.for "w" %w to 8 {
func.func private @unscheduled(%Y: memref<8xf32>) attributes {loop.kernel} {
  loop.for "w" %w to 8 {
    loop.block "zero" (%v : spatial 8 = %w) writes(%Y) {
      %z = arith.constant 0.0 : f32
      loop.store %z, %Y[%v] : memref<8xf32>
    }
  }
  func.return
}
