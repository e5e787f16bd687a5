// Y = relu(conv(X, K) + bias), f32, 3x3, 64 -> 64 channels in blocks of 16, 56x56; X is padded already. The schedule
// keeps 14 columns of 2 vectors of output channels in registers, and adds bias and activation before they are stored.
func.func @conv(%X: memref<4x58x58x16xf32>, %K: memref<4x4x3x3x16x16xf32>, %bias: memref<4x16xf32>, %Y: memref<4x56x56x16xf32>) attributes {
    loop.kernel, loop.num_outputs = 1 : i64,
    loop.schedule = #loop.schedule<[
      split("eo", 2), split("ew", 14), reorder("eo_o", "eh", "ew_o", "ew_i", "eo_i", "el"), compute_at("conv", "ew_o"),
      reorder("b", "y", "x", "c", "w", "o", "l"), unroll("w"), unroll("o"), vectorize("l"),
      unroll("ew_i"), unroll("eo_i"), vectorize("el")
    ]>} {
  %T = memref.alloc() : memref<4x56x56x16xf32>
  loop.for "o" %o to 4 {
    loop.for "h" %h to 56 {
      loop.for "w" %w to 56 {
        loop.for "l" %l to 16 {
          loop.for "b" %b to 4 {
            loop.for "y" %y to 3 {
              loop.for "x" %x to 3 {
                loop.for "c" %c to 16 {
                  loop.block "conv" (%vo : spatial 4 = %o, %vh : spatial 56 = %h, %vw : spatial 56 = %w, %vl : spatial 16 = %l,
                                     %vb : reduce 4 = %b, %vy : reduce 3 = %y, %vx : reduce 3 = %x, %vc : reduce 16 = %c)
                      reads(%X, %K) writes(%T) init {
                    %zero = arith.constant 0.0 : f32
                    loop.store %zero, %T[%vo, %vh, %vw, %vl] : memref<4x56x56x16xf32>
                  } {
                    %xv = loop.load %X[%vb, %vh + %vy, %vw + %vx, %vc] : memref<4x58x58x16xf32>
                    %kv = loop.load %K[%vo, %vb, %vy, %vx, %vc, %vl] : memref<4x4x3x3x16x16xf32>
                    %t = loop.load %T[%vo, %vh, %vw, %vl] : memref<4x56x56x16xf32>
                    %p = arith.mulf %xv, %kv fastmath<contract> : f32
                    %s = arith.addf %t, %p fastmath<contract> : f32
                    loop.store %s, %T[%vo, %vh, %vw, %vl] : memref<4x56x56x16xf32>
                  }
                }
              }
            }
          }
        }
      }
    }
  }
  loop.for "eo" %o to 4 {
    loop.for "eh" %h to 56 {
      loop.for "ew" %w to 56 {
        loop.for "el" %l to 16 {
          loop.block "bias_relu" (%vo : spatial 4 = %o, %vh : spatial 56 = %h, %vw : spatial 56 = %w, %vl : spatial 16 = %l)
              reads(%T, %bias) writes(%Y) {
            %t = loop.load %T[%vo, %vh, %vw, %vl] : memref<4x56x56x16xf32>
            %b = loop.load %bias[%vo, %vl] : memref<4x16xf32>
            %zero = arith.constant 0.0 : f32
            %s = arith.addf %t, %b : f32
            %r = arith.maximumf %s, %zero : f32
            loop.store %r, %Y[%vo, %vh, %vw, %vl] : memref<4x56x56x16xf32>
          }
        }
      }
    }
  }
  func.return
}
func.func @main(%X: memref<4x58x58x16xf32>, %K: memref<4x4x3x3x16x16xf32>, %bias: memref<4x16xf32>, %Y: memref<4x56x56x16xf32>) attributes {loop.num_outputs = 1 : i64} {
  func.call @conv(%X, %K, %bias, %Y) : (memref<4x58x58x16xf32>, memref<4x4x3x3x16x16xf32>, memref<4x16xf32>, memref<4x56x56x16xf32>) -> ()
  func.return
}
