// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{[amx.tile C1]}}
%0 = amx.tile_zero : !amx.tile<17x16xi32>

// -----

// expected-error@+1 {{[amx.tile C1]}}
%0 = amx.tile_zero : !amx.tile<16x17xi32>

// -----

// expected-error@+1 {{[amx.tile C1]}}
%0 = amx.tile_zero : !amx.tile<16x6xi8>

// -----

%a, %b, %c = "test.op"() : () -> (!amx.tile<16x64xi8>, !amx.tile<8x64xi8>, !amx.tile<16x16xi32>)
// expected-error@+1 {{[amx.tile_muli C1]}}
%0 = amx.tile_muli %a zext, %b, %c : !amx.tile<16x64xi8>, !amx.tile<8x64xi8>, !amx.tile<16x16xi32>

// -----

%a, %b, %c = "test.op"() : () -> (!amx.tile<16x16xi32>, !amx.tile<4x64xi8>, !amx.tile<16x16xi32>)
// expected-error@+1 {{[amx.tile_muli C1]}}
%0 = amx.tile_muli %a, %b, %c : !amx.tile<16x16xi32>, !amx.tile<4x64xi8>, !amx.tile<16x16xi32>

// -----

%a, %b, %c = "test.op"() : () -> (!amx.tile<16x32xbf16>, !amx.tile<8x32xbf16>, !amx.tile<16x16xf32>)
// expected-error@+1 {{[amx.tile_mulf C1]}}
%0 = amx.tile_mulf %a, %b, %c : !amx.tile<16x32xbf16>, !amx.tile<8x32xbf16>, !amx.tile<16x16xf32>

// -----

%a, %b, %c = "test.op"() : () -> (!amx.tile<16x64xi8>, !amx.tile<16x64xi8>, !amx.tile<16x16xi32>)
// expected-error@+1 {{[amx.tile_mulf C1]}}
%0 = amx.tile_mulf %a, %b, %c : !amx.tile<16x64xi8>, !amx.tile<16x64xi8>, !amx.tile<16x16xi32>
