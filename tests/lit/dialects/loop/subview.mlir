// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: func.func @parts
func.func @parts(%whole: memref<6x4xf32>, %rows: memref<?x4xf32>, %n: index) {
  %two = arith.constant 2 : index
  // CHECK: %column = loop.subview %whole[%two] [] : memref<6x4xf32> to memref<22x1xf32>
  %column = loop.subview %whole[%two][] : memref<6x4xf32> to memref<22x1xf32>
  // CHECK: %empty = loop.subview %rows[%two] [] : memref<?x4xf32> to memref<0xf32>
  %empty = loop.subview %rows[%two][] : memref<?x4xf32> to memref<0xf32>
  // CHECK: %some = loop.subview %whole[%n] [%n] : memref<6x4xf32> to memref<?x2xf32>
  %some = loop.subview %whole[%n][%n] : memref<6x4xf32> to memref<?x2xf32>
  // CHECK: %columns = loop.subview %whole[%two] [] : memref<6x4xf32> to memref<6x2xf32, strided<[4, 1]>>
  %columns = loop.subview %whole[%two][] : memref<6x4xf32> to memref<6x2xf32, strided<[4, 1]>>
  // CHECK: %images = loop.subview %rows[%two] [%n] : memref<?x4xf32> to memref<?x2xf32, strided<[4, 1]>>
  %images = loop.subview %rows[%two][%n] : memref<?x4xf32> to memref<?x2xf32, strided<[4, 1]>>
  func.return
}
