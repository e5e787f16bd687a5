// RUN: xrelay-opt %s | filecheck %s
// RUN: XRELAY_ROUNDTRIP | filecheck %s
// RUN: xrelay-opt %s -p convert-topi-to-loop | filecheck %s --check-prefix LOOP

// CHECK-LABEL: func.func @take
// CHECK: %k = topi.checked_index %a of 9 {note = 1 : i64}
// CHECK-NEXT: %m = topi.checked_index %k of 9 from_end
// LOOP-LABEL: func.func @take
// LOOP: %k = loop.checked_index %a of 9
// LOOP-NEXT: %m = loop.checked_index %k of 9 from_end
// LOOP-NEXT: loop.load %x[%m] : memref<9xf32>
func.func @take(%x: tensor<9xf32>, %at: tensor<4xindex>) -> tensor<4xf32> {
  %r = topi.compute "take" [%i : 4] : tensor<4xf32> {
    %a = topi.read %at[%i] : tensor<4xindex>
    %k = topi.checked_index %a of 9 {note = 1}
    %m = topi.checked_index %k of 9 from_end
    %v = topi.read %x[%m] : tensor<9xf32>
    topi.yield %v : f32
  }
  func.return %r : tensor<4xf32>
}
