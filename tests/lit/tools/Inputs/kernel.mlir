func.func private @scale(%x: memref<30xf32>, %y: memref<30xf32>) attributes {loop.num_outputs = 1 : i64, loop.kernel} {
  loop.for "i" %i to 30 {
    loop.block "scale" (%vi : spatial 30 = %i) reads(%x) writes(%y) {
      %0 = loop.load %x[%vi] : memref<30xf32>
      %1 = arith.constant 2.000000e+00 : f32
      %2 = arith.mulf %0, %1 : f32
      loop.store %2, %y[%vi] : memref<30xf32>
    }
  }
  func.return
}
