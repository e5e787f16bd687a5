// RUN: xrelay-opt %s -p convert-amx-to-llvm --verify-diagnostics

func.func @dynamic(%x: memref<?x?xi8>, %s: index) {
  // expected-error@+1 {{failed to convert amx.tile_load: the strides of memref<?x?xi8> are dynamic}}
  %a = amx.tile_load %x[%s, %s], %s : memref<?x?xi8> into !amx.tile<16x64xi8>
  func.return
}
