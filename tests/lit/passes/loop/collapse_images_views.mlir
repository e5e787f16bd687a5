// RUN: xrelay-opt %s -p 'loop-collapse-images{vector-lanes=4}' | filecheck %s

// An image that is a view of a larger buffer: the row is a view of the larger buffer, too.
// CHECK-LABEL: func.func @main
// CHECK:         [[X:%.*]] = loop.subview %t[%at] [] : memref<60xf32> to memref<1x2x1x15xf32>
// CHECK-NEXT:    [[Y:%.*]] = loop.subview %y[{{%.*}}] [] : memref<1x2x3x5xf32> to memref<1x2x1x15xf32>
// CHECK-NEXT:    func.call @kernel([[X]], %w, [[Y]])
func.func @main(%w: memref<2x2x1x1xf32>, %t: memref<60xf32>, %y: memref<1x2x3x5xf32>) attributes {loop.num_outputs = 1 : i64} {
  %at = arith.constant 30 : index
  %x = loop.subview %t[%at][] : memref<60xf32> to memref<1x2x3x5xf32>
  func.call @kernel(%x, %w, %y) : (memref<1x2x3x5xf32>, memref<2x2x1x1xf32>, memref<1x2x3x5xf32>) -> ()
  func.return
}
func.func private @kernel(%x: memref<1x2x3x5xf32>, %w: memref<2x2x1x1xf32>, %y: memref<1x2x3x5xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "c" %c to 2 {
    loop.for "h" %h to 3 {
      loop.for "w" %v to 5 {
        loop.for "k" %k to 2 {
          loop.block "conv2d" (%vc : spatial 2 = %c, %vh : spatial 3 = %h, %vw : spatial 5 = %v, %vk : reduce 2 = %k) reads(%x, %w) writes(%y) attributes {loop.source = "topi.conv2d_nchw"} init {
            %0 = arith.constant 0.000000e+00 : f32
            loop.store %0, %y[0, %vc, %vh, %vw] : memref<1x2x3x5xf32>
          } {
            %1 = loop.load %y[0, %vc, %vh, %vw] : memref<1x2x3x5xf32>
            %2 = loop.load %x[0, %vk, %vh, %vw] : memref<1x2x3x5xf32>
            %3 = loop.load %w[%vc, %vk, 0, 0] : memref<2x2x1x1xf32>
            %4 = arith.mulf %2, %3 : f32
            %5 = arith.addf %1, %4 : f32
            loop.store %5, %y[0, %vc, %vh, %vw] : memref<1x2x3x5xf32>
          }
        }
      }
    }
  }
  func.return
}

// Unchanged: a kernel that takes a view with strides, and one whose image is a constant.
// CHECK-LABEL: func.func @others
// CHECK:         func.call @apart(%x, %w, %y)
// CHECK:         func.call @constant(%c, %w, %y)
func.func @others(%w: memref<1x1x1x1xf32>, %t: memref<2x2x3x5xf32>, %y: memref<2x1x3x5xf32>) attributes {loop.num_outputs = 1 : i64} {
  %at = arith.constant 15 : index
  %x = loop.subview %t[%at][] : memref<2x2x3x5xf32> to memref<2x1x3x5xf32, strided<[30, 15, 5, 1]>>
  func.call @apart(%x, %w, %y) : (memref<2x1x3x5xf32, strided<[30, 15, 5, 1]>>, memref<1x1x1x1xf32>, memref<2x1x3x5xf32>) -> ()
  %c = loop.weight #relay.weight<"c", "key"> : memref<2x1x3x5xf32>
  func.call @constant(%c, %w, %y) : (memref<2x1x3x5xf32>, memref<1x1x1x1xf32>, memref<2x1x3x5xf32>) -> ()
  func.return
}
// CHECK-LABEL: func.func private @apart(%x: memref<2x1x3x5xf32, strided<[30, 15, 5, 1]>>, {{.*}}, %y: memref<2x1x3x5xf32>)
// CHECK-NEXT:    loop.for "n" %n to 2 {
// CHECK-NEXT:      loop.for "h" %h to 3 {
func.func private @apart(%x: memref<2x1x3x5xf32, strided<[30, 15, 5, 1]>>, %w: memref<1x1x1x1xf32>, %y: memref<2x1x3x5xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "n" %n to 2 {
    loop.for "h" %h to 3 {
      loop.for "w" %v to 5 {
        loop.block "conv2d" (%vn : spatial 2 = %n, %vh : spatial 3 = %h, %vw : spatial 5 = %v, %vk : reduce 1 = 0) reads(%x, %w) writes(%y) attributes {loop.source = "topi.conv2d_nchw"} {
          %2 = loop.load %x[%vn, %vk, %vh, %vw] : memref<2x1x3x5xf32, strided<[30, 15, 5, 1]>>
          %3 = loop.load %w[0, %vk, 0, 0] : memref<1x1x1x1xf32>
          %4 = arith.mulf %2, %3 : f32
          loop.store %4, %y[%vn, 0, %vh, %vw] : memref<2x1x3x5xf32>
        }
      }
    }
  }
  func.return
}
// CHECK-LABEL: func.func private @constant(%x: memref<2x1x3x5xf32>, {{.*}}, %y: memref<2x1x3x5xf32>)
// CHECK-NEXT:    loop.for "n" %n to 2 {
// CHECK-NEXT:      loop.for "h" %h to 3 {
func.func private @constant(%x: memref<2x1x3x5xf32>, %w: memref<1x1x1x1xf32>, %y: memref<2x1x3x5xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "n" %n to 2 {
    loop.for "h" %h to 3 {
      loop.for "w" %v to 5 {
        loop.block "conv2d" (%vn : spatial 2 = %n, %vh : spatial 3 = %h, %vw : spatial 5 = %v, %vk : reduce 1 = 0) reads(%x, %w) writes(%y) attributes {loop.source = "topi.conv2d_nchw"} {
          %2 = loop.load %x[%vn, %vk, %vh, %vw] : memref<2x1x3x5xf32>
          %3 = loop.load %w[0, %vk, 0, 0] : memref<1x1x1x1xf32>
          %4 = arith.mulf %2, %3 : f32
          loop.store %4, %y[%vn, 0, %vh, %vw] : memref<2x1x3x5xf32>
        }
      }
    }
  }
  func.return
}
