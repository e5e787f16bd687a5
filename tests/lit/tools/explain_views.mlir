// RUN: xrelay explain views %s | filecheck %s
// RUN: sh %S/Inputs/exit_code.sh 2 xrelay explain views %s --json 2>&1 | filecheck %s --check-prefix USAGE
// RUN: xrelay explain views %S/Inputs/channels.mlir | filecheck %s --check-prefix APART
// RUN: xrelay explain views %S/explain_versions.mlir | filecheck %s --check-prefix NONE

// CHECK:      %a : memref<2x4xf32> is a view of %c : memref<6x4xf32> from element 0
// CHECK-NEXT: %b : memref<2x4xf32> is a view of %c : memref<6x4xf32> from element 8
// CHECK-NEXT: a buffer : memref<2x4xf32> is a view of %c : memref<6x4xf32> from element 16
// CHECK-NEXT: @copy_part copies: %x is an argument
// APART:      %a : memref<2x3x4x8xf32, strided<[192, 32, 8, 1]>> is a view of %c : memref<2x6x4x8xf32> from element 0
// APART-NEXT: %b : memref<2x3x4x8xf32, strided<[192, 32, 8, 1]>> is a view of %c : memref<2x6x4x8xf32> from element 96
// USAGE:      --op, --as-is, --json and --dot are for fusion
// NONE:       no kernel only joins, slices or reshapes
func.func @main(%x: tensor<2x4xf32>) -> tensor<6x4xf32> {
  %a = relay.nn.softmax(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %b = relay.cumsum(%a) {axis = 0} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %t = relay.tuple(%a, %b, %x) : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> !relay.incomplete
  %c = relay.concatenate(%t) {axis = 0} : (!relay.incomplete) -> tensor<6x4xf32>
  func.return %c : tensor<6x4xf32>
}
