// RUN: xrelay-opt %s -p convert-loop-to-scf | filecheck %s

// A function that @main calls gets its weights from @main, through the functions between, before its extents.
// CHECK-LABEL: func.func @main(%x: memref<2xf32>, %y: memref<2xf32>, %v: memref<2xf32>, %w: memref<2xf32>)
// CHECK:         func.call @outer(%x, %y, %v, %w)
func.func @main(%x: memref<2xf32>, %y: memref<2xf32>) attributes {loop.num_outputs = 1 : i64} {
  %w = loop.weight dense<[1.0, 2.0]> : tensor<2xf32> : memref<2xf32>
  func.call @outer(%x, %y) : (memref<2xf32>, memref<2xf32>) -> ()
  func.call @copy(%w, %y) : (memref<2xf32>, memref<2xf32>) -> ()
  func.return
}
// CHECK-LABEL: func.func private @outer(%x: memref<2xf32>, %y: memref<2xf32>, %v: memref<2xf32>, %w: memref<2xf32>)
// CHECK:         func.call @copy(%v, %y)
// CHECK:         func.call @inner(%x, %y, %w, %v, %{{.*}})
func.func private @outer(%x: memref<2xf32>, %y: memref<2xf32>) {
  %v = loop.weight dense<[3.0, 4.0]> : tensor<2xf32> : memref<2xf32>
  %n = arith.constant 2 : index
  func.call @copy(%v, %y) : (memref<2xf32>, memref<2xf32>) -> ()
  func.call @inner(%x, %y, %n) : (memref<2xf32>, memref<2xf32>, index) -> ()
  func.return
}
// Mutually recursive functions take each other's weights too.
// CHECK-LABEL: func.func private @inner(%x: memref<2xf32>, %y: memref<2xf32>, %w: memref<2xf32>, %v: memref<2xf32>, %n: index)
// CHECK:         func.call @outer(%x, %y, %v, %w)
func.func private @inner(%x: memref<2xf32>, %y: memref<2xf32>, %n: index) {
  %w = loop.weight dense<[1.0, 2.0]> : tensor<2xf32> : memref<2xf32>
  func.call @copy(%w, %y) : (memref<2xf32>, memref<2xf32>) -> ()
  func.call @outer(%x, %y) : (memref<2xf32>, memref<2xf32>) -> ()
  func.return
}
func.func private @copy(%x: memref<2xf32>, %y: memref<2xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  func.return
}
