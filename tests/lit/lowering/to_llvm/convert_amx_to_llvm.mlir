// RUN: xrelay-opt %s -p convert-amx-to-llvm | filecheck %s
// RUN: xrelay-opt %s -p convert-scf-to-llvm | filecheck %s --check-prefix LOOP
// RUN: xrelay-opt %s -p convert-scf-to-llvm -t llvm-ir | filecheck %s --check-prefix TEXT

// The shapes of tiles and the distances of rows are in bytes. The sums of a loop stay in one tile register.
// CHECK-LABEL: func.func @product
// CHECK: llvm.call_intrinsic "llvm.x86.tilezero.internal"(%{{.*}}, %{{.*}}) : (i16, i16) -> !llvm.x86_amx
// CHECK: scf.for
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64.internal"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (i16, i16, !llvm.ptr, i64) -> !llvm.x86_amx
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbusd.internal"
// CHECK: llvm.call_intrinsic "llvm.x86.tilestored64.internal"
// LOOP-LABEL: llvm.func @product
// LOOP: llvm.br ^k_head(%c0, %zero : i64, !llvm.x86_amx)
// LOOP: ^k_head(%k: i64, %acc: !llvm.x86_amx):
// TEXT-LABEL: define i32 @product
// TEXT: phi x86_amx
// TEXT: call x86_amx @llvm.x86.tileloadd64.internal(i16 16, i16 64, ptr %{{.*}}, i64 128)
// TEXT: call x86_amx @llvm.x86.tileloadd64.internal(i16 16, i16 64, ptr %{{.*}}, i64 64)
// TEXT: call x86_amx @llvm.x86.tdpbusd.internal(i16 16, i16 64, i16 64, x86_amx
// TEXT: %[[BYTES:.*]] = mul i64 32, 4
// TEXT: call void @llvm.x86.tilestored64.internal(i16 16, i16 64, ptr %{{.*}}, i64 %[[BYTES]], x86_amx
func.func @product(%x: memref<32x128xi8>, %w: memref<2x32x16x4xi8>, %y: memref<32x32xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = amx.tile_zero : !amx.tile<16x16xi32>
  %r = scf.for %k = %c0 to %c2 step %c1 iter_args(%acc = %zero) -> (!amx.tile<16x16xi32>) {
    %column = arith.muli %k, %c64 : index
    %row = arith.muli %k, %c16 : index
    %a = amx.tile_load %x[%c0, %column], %c128 : memref<32x128xi8> into !amx.tile<16x64xi8>
    %b = amx.tile_load %w[%c0, %row, %c0, %c0], %c64 : memref<2x32x16x4xi8> into !amx.tile<16x64xi8>
    %n = amx.tile_muli %a zext, %b, %acc : !amx.tile<16x64xi8>, !amx.tile<16x64xi8>, !amx.tile<16x16xi32>
    scf.yield %n : !amx.tile<16x16xi32>
  }
  amx.tile_store %y[%c0, %c0], %r, %c32 : memref<32x32xi32>, !amx.tile<16x16xi32>
  func.return
}

// CHECK-LABEL: func.func @signs
// CHECK: "llvm.x86.tdpbssd.internal"
// CHECK: "llvm.x86.tdpbsud.internal"
// CHECK: "llvm.x86.tdpbuud.internal"
func.func @signs(%x: memref<16x64xi8>, %y: memref<16x16xi32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %z = amx.tile_zero : !amx.tile<16x16xi32>
  %a = amx.tile_load %x[%c0, %c0], %c64 : memref<16x64xi8> into !amx.tile<16x64xi8>
  %0 = amx.tile_muli %a, %a, %z : !amx.tile<16x64xi8>, !amx.tile<16x64xi8>, !amx.tile<16x16xi32>
  %1 = amx.tile_muli %a, %a zext, %0 : !amx.tile<16x64xi8>, !amx.tile<16x64xi8>, !amx.tile<16x16xi32>
  %2 = amx.tile_muli %a zext, %a zext, %1 : !amx.tile<16x64xi8>, !amx.tile<16x64xi8>, !amx.tile<16x16xi32>
  amx.tile_store %y[%c0, %c0], %2, %c64 : memref<16x16xi32>, !amx.tile<16x16xi32>
  func.return
}

// CHECK-LABEL: func.func @floats
// CHECK: "llvm.x86.tdpbf16ps.internal"
// TEXT-LABEL: define i32 @floats
// TEXT: call x86_amx @llvm.x86.tileloadd64.internal(i16 16, i16 64, ptr %{{.*}}, i64 %[[PITCH:.*]])
// TEXT: call x86_amx @llvm.x86.tdpbf16ps.internal(i16 16, i16 64, i16 64, x86_amx
func.func @floats(%x: memref<16x32xbf16>, %y: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c16 = arith.constant 16 : index
  %z = amx.tile_zero : !amx.tile<16x16xf32>
  %a = amx.tile_load %x[%c0, %c0], %c32 : memref<16x32xbf16> into !amx.tile<16x32xbf16>
  %0 = amx.tile_mulf %a, %a, %z : !amx.tile<16x32xbf16>, !amx.tile<16x32xbf16>, !amx.tile<16x16xf32>
  amx.tile_store %y[%c0, %c0], %0, %c16 : memref<16x16xf32>, !amx.tile<16x16xf32>
  func.return
}
