// RUN: not xrelay-opt %s -p loop-apply-schedules 2>&1 | filecheck %s

// CHECK: @k, step 2: error: vectorize("w"): loop 'w': @k has no such loop; help: did you mean 'wb'?
func.func private @k(%Y: memref<8xf32>) attributes {loop.kernel, loop.schedule = #loop.schedule<[split("w", 2, names = ["wa", "wb"]), vectorize("w")]>} {
  loop.for "w" %w to 8 {
    loop.block "zero" (%v : spatial 8 = %w) writes(%Y) {
      %z = arith.constant 0.0 : f32
      loop.store %z, %Y[%v] : memref<8xf32>
    }
  }
  func.return
}
