// RUN: xrelay-opt %s -p 'loop-schedule-kernels{target="cpu -mcpu=znver4 -num-threads=1"}' | filecheck %s
// RUN: xrelay-opt %s -p 'loop-schedule-kernels{target="cpu -mcpu=haswell -num-threads=1"}' | filecheck %s --check-prefix AVX2
// RUN: xrelay-opt %s -p 'loop-schedule-kernels{target="cpu -mcpu=znver4 -num-threads=1" only-merged=true}' | filecheck %s --check-prefix MERGED
// RUN: xrelay-opt %s -p 'loop-assign-schedules{target="cpu -mcpu=znver4 -num-threads=1"},loop-apply-schedules' | filecheck %s --check-prefix APPLIED

// The row is cut into vectors of the target, as by loop-apply-schedules; the reason is kept, and the schedule that is left is empty.
// CHECK-LABEL: func.func private @square
// CHECK-SAME: attributes {loop.kernel, loop.work = ["64", "512"], loop.schedule = #loop.schedule<[]>, loop.schedule_reason = "injective: {{[^"]*}}", loop.schedule_cycles = {{[0-9]+}} : i64} {
// Without others like it, it stays unchanged if only merged kernels are scheduled.
// MERGED-LABEL: func.func private @square
// MERGED-SAME: attributes {loop.kernel} {
// MERGED-NEXT: loop.for "i" %i to 64 {
// CHECK: loop.for "i_o" %i_o to 4 {
// CHECK-NEXT: loop.for "i_v" %i_v to 16 vectorized {
// AVX2: loop.for "i_v" %i_v to 8 vectorized {
// APPLIED: loop.for "i_o" %i_o to 4 {
// APPLIED-NEXT: loop.for "i_v" %i_v to 16 vectorized {
func.func private @square(%X: memref<64xf32>, %Y: memref<64xf32>) attributes {loop.kernel} {
  loop.for "i" %i to 64 {
    loop.block "square" (%vi : spatial 64 = %i) reads(%X) writes(%Y) {
      %x = loop.load %X[%vi] : memref<64xf32>
      %s = arith.mulf %x, %x : f32
      loop.store %s, %Y[%vi] : memref<64xf32>
    }
  }
  func.return
}

// A kernel that has a schedule keeps it.
// CHECK-LABEL: func.func private @given
// CHECK-SAME: loop.schedule = #loop.schedule<[split("i", 4)]>
// CHECK: loop.for "i" %i to 64 {
func.func private @given(%X: memref<64xf32>, %Y: memref<64xf32>) attributes {loop.kernel, loop.schedule = #loop.schedule<[split("i", 4)]>} {
  loop.for "i" %i to 64 {
    loop.block "copy" (%vi : spatial 64 = %i) reads(%X) writes(%Y) {
      %x = loop.load %X[%vi] : memref<64xf32>
      loop.store %x, %Y[%vi] : memref<64xf32>
    }
  }
  func.return
}

// Kernels of equal schedules that differ in constant extents alone become one, which is scheduled, too.
// CHECK-LABEL: func.func private @columns
// CHECK-SAME: %n: index, %size0: index
// CHECK-SAME: loop.schedule = #loop.schedule<[]>
// CHECK-SAME: loop.work = ["0", "4 * (min(1 * d1 * d0, 1 * d1 * d0))"]
// CHECK: loop.for "j" %j to %size0 {
// CHECK-NEXT: loop.for "i_o"
// CHECK-NOT: @columns_1
// MERGED-LABEL: func.func private @columns
// MERGED-SAME: loop.schedule = #loop.schedule<[]>
// MERGED: loop.for "i_o"
// MERGED-NOT: @columns_1
func.func private @columns(%X: memref<4x?xf32> {loop.extents = array<i64: 0>}, %n: index) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "j" %j to 4 {
    loop.for "i" %i to %n {
      loop.block "b" (%vj : spatial 4 = %j, %vi : spatial %n = %i) writes(%X) {
        %zero = arith.constant 0.0 : f32
        loop.store %zero, %X[%vj, %vi] : memref<4x?xf32>
      }
    }
  }
  func.return
}
func.func private @columns_1(%X: memref<6x?xf32> {loop.extents = array<i64: 0>}, %n: index) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "j" %j to 6 {
    loop.for "i" %i to %n {
      loop.block "b" (%vj : spatial 6 = %j, %vi : spatial %n = %i) writes(%X) {
        %zero = arith.constant 0.0 : f32
        loop.store %zero, %X[%vj, %vi] : memref<6x?xf32>
      }
    }
  }
  func.return
}

// Cycles beyond the range of i64 become its greatest number.
// CHECK-LABEL: func.func private @huge
// CHECK-SAME: loop.schedule_cycles = 9223372036854775807 : i64
func.func private @huge(%X: memref<2147483648x2147483648x64xf32>, %Y: memref<2147483648x2147483648x64xf32>) attributes {loop.kernel} {
  loop.for "i" %i to 2147483648 {
    loop.for "j" %j to 2147483648 {
      loop.for "k" %k to 64 {
        loop.block "copy" (%vi : spatial 2147483648 = %i, %vj : spatial 2147483648 = %j, %vk : spatial 64 = %k) reads(%X) writes(%Y) {
          %x = loop.load %X[%vi, %vj, %vk] : memref<2147483648x2147483648x64xf32>
          loop.store %x, %Y[%vi, %vj, %vk] : memref<2147483648x2147483648x64xf32>
        }
      }
    }
  }
  func.return
}
