// RUN: xrelay-opt %s -p 'loop-schedule-kernels{target="cpu -mcpu=znver4 -num-threads=1"}' | filecheck %s
// RUN: xrelay-opt %s -p 'loop-schedule-kernels{target="cpu -mcpu=haswell -num-threads=1"}' | filecheck %s --check-prefix AVX2
// RUN: xrelay-opt %s -p 'loop-assign-schedules{target="cpu -mcpu=znver4 -num-threads=1"},loop-apply-schedules' | filecheck %s --check-prefix APPLIED

// The row is cut into vectors of the target, as by loop-apply-schedules; the reason is kept, but no schedule.
// CHECK-LABEL: func.func private @square
// CHECK-SAME: attributes {loop.kernel, loop.schedule_reason = "injective: {{[^"]*}}", loop.schedule_cycles = {{[0-9]+}} : i64} {
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
