// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: func.func @parts
func.func @parts(%whole: memref<6x4xf32>, %rows: memref<?x4xf32>, %n: index) {
  %two = arith.constant 2 : index
  // CHECK: %column = loop.part %whole[%two] [] : memref<6x4xf32> to memref<22x1xf32>
  %column = loop.part %whole[%two][] : memref<6x4xf32> to memref<22x1xf32>
  // CHECK: %empty = loop.part %rows[%two] [] : memref<?x4xf32> to memref<0xf32>
  %empty = loop.part %rows[%two][] : memref<?x4xf32> to memref<0xf32>
  // CHECK: %some = loop.part %whole[%n] [%n] : memref<6x4xf32> to memref<?x2xf32>
  %some = loop.part %whole[%n][%n] : memref<6x4xf32> to memref<?x2xf32>
  // CHECK: %columns = loop.part %whole[%two] [] : memref<6x4xf32> to memref<6x2xf32, strided<[4, 1]>>
  %columns = loop.part %whole[%two][] : memref<6x4xf32> to memref<6x2xf32, strided<[4, 1]>>
  // CHECK: %images = loop.part %rows[%two] [%n] : memref<?x4xf32> to memref<?x2xf32, strided<[4, 1]>>
  %images = loop.part %rows[%two][%n] : memref<?x4xf32> to memref<?x2xf32, strided<[4, 1]>>
  func.return
}
