// RUN: xrelay-opt %s | filecheck %s
// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: func.func @tiles
// CHECK: %[[ZERO:.*]] = amx.tile_zero : !amx.tile<16x16xi32>
// CHECK: %[[A:.*]] = amx.tile_load %x[%i, %i], %s : memref<128x64xi8> into !amx.tile<16x32xi8>
// CHECK: %[[B:.*]] = amx.tile_load %w[%i, %i, %i], %s : memref<16x16x4xi8> into !amx.tile<8x64xi8>
// CHECK: amx.tile_muli %[[A]] zext, %[[B]], %[[ZERO]] : !amx.tile<16x32xi8>, !amx.tile<8x64xi8>, !amx.tile<16x16xi32>
// CHECK: amx.tile_muli %[[A]], %[[B]] zext, %[[ZERO]] : !amx.tile<16x32xi8>, !amx.tile<8x64xi8>, !amx.tile<16x16xi32>
// CHECK: %[[SUM:.*]] = amx.tile_muli %[[A]], %[[B]], %[[ZERO]] :
// CHECK: amx.tile_store %y[%i, %i], %[[SUM]], %s : memref<128x16xi32>, !amx.tile<16x16xi32>
func.func @tiles(%x: memref<128x64xi8>, %w: memref<16x16x4xi8>, %y: memref<128x16xi32>, %i: index, %s: index) {
  %zero = amx.tile_zero : !amx.tile<16x16xi32>
  %a = amx.tile_load %x[%i, %i], %s : memref<128x64xi8> into !amx.tile<16x32xi8>
  %b = amx.tile_load %w[%i, %i, %i], %s : memref<16x16x4xi8> into !amx.tile<8x64xi8>
  %0 = amx.tile_muli %a zext, %b, %zero : !amx.tile<16x32xi8>, !amx.tile<8x64xi8>, !amx.tile<16x16xi32>
  %1 = amx.tile_muli %a, %b zext, %zero : !amx.tile<16x32xi8>, !amx.tile<8x64xi8>, !amx.tile<16x16xi32>
  %2 = amx.tile_muli %a, %b, %zero : !amx.tile<16x32xi8>, !amx.tile<8x64xi8>, !amx.tile<16x16xi32>
  amx.tile_store %y[%i, %i], %2, %s : memref<128x16xi32>, !amx.tile<16x16xi32>
  func.return
}

// CHECK-LABEL: func.func @floats
// CHECK: amx.tile_mulf %{{.*}}, %{{.*}}, %{{.*}} : !amx.tile<16x16xbf16>, !amx.tile<8x32xbf16>, !amx.tile<16x16xf32>
func.func @floats(%x: memref<128x32xbf16>, %w: memref<16x16x2xbf16>, %y: memref<128x16xf32>, %i: index, %s: index) {
  %zero = amx.tile_zero : !amx.tile<16x16xf32>
  %a = amx.tile_load %x[%i, %i], %s : memref<128x32xbf16> into !amx.tile<16x16xbf16>
  %b = amx.tile_load %w[%i, %i, %i], %s : memref<16x16x2xbf16> into !amx.tile<8x32xbf16>
  %0 = amx.tile_mulf %a, %b, %zero : !amx.tile<16x16xbf16>, !amx.tile<8x32xbf16>, !amx.tile<16x16xf32>
  amx.tile_store %y[%i, %i], %0, %s : memref<128x16xf32>, !amx.tile<16x16xf32>
  func.return
}
