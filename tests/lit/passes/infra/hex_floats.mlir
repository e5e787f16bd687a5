// Infinities and NaNs print and parse, in scalars and in dense attributes of every float type.
// RUN: XRELAY_ROUNDTRIP | filecheck %s
// RUN: echo '%%0 = arith.constant dense<0x1FF800000> : vector<4xf32>' | not xrelay-opt 2>&1 | filecheck %s --check-prefix=WIDE

// CHECK: arith.constant dense<0xff800000> : vector<4xf32>
%0 = arith.constant dense<0xFF800000> : vector<4xf32>
// CHECK: arith.constant dense<[0x7c00, 1.000000e+00]> : vector<2xf16>
%1 = arith.constant dense<[0x7C00, 1.0]> : vector<2xf16>
// CHECK: arith.constant dense<0x7ff0000000000000> : vector<4xf64>
%2 = arith.constant dense<0x7FF0000000000000> : vector<4xf64>
// CHECK: arith.constant dense<255> : vector<4xi32>
%3 = arith.constant dense<0xFF> : vector<4xi32>

// WIDE: error: 0x1FF800000 has more bits than f32
