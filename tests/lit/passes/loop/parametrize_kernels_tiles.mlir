// RUN: xrelay-opt %s -p 'loop-parametrize-kernels{least=2}' | filecheck %s

// An instruction on tiles needs constant extents around it.
// CHECK: func.func private @tiles(%X: memref<4x16xf32>
// CHECK: func.func private @tiles_1(%X: memref<5x16xf32>
func.func private @tiles(%X: memref<4x16xf32>, %Y: memref<4x16xf32>)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[tensorize("j", "tdpbf16ps")]>} {
  loop.for "i" %i to 4 {
    loop.for "j" %j to 16 {
      loop.block "b" (%vi : spatial 4 = %i, %vj : spatial 16 = %j) reads(%X) writes(%Y) {
        %x = loop.load %X[%vi, %vj] : memref<4x16xf32>
        loop.store %x, %Y[%vi, %vj] : memref<4x16xf32>
      }
    }
  }
  func.return
}
func.func private @tiles_1(%X: memref<5x16xf32>, %Y: memref<5x16xf32>)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[tensorize("j", "tdpbf16ps")]>} {
  loop.for "i" %i to 5 {
    loop.for "j" %j to 16 {
      loop.block "b" (%vi : spatial 5 = %i, %vj : spatial 16 = %j) reads(%X) writes(%Y) {
        %x = loop.load %X[%vi, %vj] : memref<5x16xf32>
        loop.store %x, %Y[%vi, %vj] : memref<5x16xf32>
      }
    }
  }
  func.return
}
