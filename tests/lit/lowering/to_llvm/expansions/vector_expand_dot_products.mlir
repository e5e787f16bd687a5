// RUN: xrelay-opt %s -p vector-expand-dot-products | filecheck %s --check-prefixes ANY,PLAIN
// RUN: xrelay-opt %s -p 'vector-expand-dot-products{instruction=vpdpbusd}' | filecheck %s --check-prefixes ANY,VNNI
// RUN: xrelay-opt %s -p 'vector-expand-dot-products{instruction=pmaddwd}' | filecheck %s --check-prefixes ANY,PAIRS
// RUN: xrelay-opt %s -p 'vector-expand-dot-products{instruction=vpdpbusd width=256}' | filecheck %s --check-prefixes ANY,PLAIN
// RUN: xrelay-opt %s -p 'vector-expand-dot-products{instruction=usdot}' | filecheck %s --check-prefix USDOT
// RUN: xrelay-opt %s -p 'vector-expand-dot-products{instruction=sdot}' | filecheck %s --check-prefix SDOT
// RUN: not xrelay-opt %s -p 'vector-expand-dot-products{instruction=dot}' 2>&1 | filecheck %s --check-prefix UNKNOWN

// UNKNOWN: error: vector-expand-dot-products: no instruction is called 'dot'; help: known are vpdpbusd, pmaddwd, usdot, sdot

// ANY-LABEL: func.func @lanes
// PLAIN-NEXT: vector.shuffle %b, %b [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
// PLAIN-NEXT: vector.shuffle %v, %v [0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60]
// PLAIN-NEXT: arith.extui {{.*}} : vector<16xi8> to vector<16xi32>
// PLAIN-NEXT: arith.extsi {{.*}} : vector<16xi8> to vector<16xi32>
// PLAIN-NEXT: arith.muli
// PLAIN-NEXT: arith.addi %acc
// PLAIN-COUNT-3: arith.muli
// PLAIN-NEXT: arith.addi
// VNNI-NEXT:  %[[X:.*]] = vector.shuffle %b, %b [0, 1, 2, 3, 0, 1, 2, 3, {{.*}}] : vector<4xi8>, vector<4xi8>
// VNNI-NEXT:  llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%acc, %[[X]], %v)
// PAIRS:      arith.andi {{.*}} : vector<32xi16>
// PAIRS:      llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"
// PAIRS-NEXT: arith.addi %acc
// PAIRS-NEXT: llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"
// PAIRS-NEXT: arith.addi
// ANY-NEXT:   func.return
func.func @lanes(%b: vector<4xi8>, %v: vector<64xi8>, %acc: vector<16xi32>) -> vector<16xi32> {
  %x = vector.broadcast %b : vector<4xi8> to vector<16x4xi8>
  %w = vector.shape_cast %v : vector<64xi8> to vector<16x4xi8>
  %xe = arith.extui %x : vector<16x4xi8> to vector<16x4xi32>
  %we = arith.extsi %w : vector<16x4xi8> to vector<16x4xi32>
  %p = arith.muli %xe, %we : vector<16x4xi32>
  %s = vector.multi_reduction <add>, %p, %acc [1] : vector<16x4xi32> to vector<16xi32>
  func.return %s : vector<16xi32>
}

// aarch64 has vectors of 128 bits; those of 512 are multiplied term by term.
// USDOT-LABEL: func.func @lanes
// USDOT-NOT:   llvm.call_intrinsic
// USDOT-LABEL: func.func @four_lanes
// USDOT-NEXT:  %[[X:.*]] = vector.shuffle %b, %b [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]
// USDOT-NEXT:  llvm.call_intrinsic "llvm.aarch64.neon.usdot.v4i32.v16i8"(%acc, %[[X]], %v)
// SDOT-LABEL:  func.func @four_lanes
// SDOT:        %[[M:.*]] = arith.constant dense<-128> : vector<16xi8>
// SDOT:        %[[X:.*]] = vector.shuffle %b, %b
// SDOT:        %[[D:.*]] = arith.xori %[[X]], %[[M]] : vector<16xi8>
// SDOT:        %[[S:.*]] = llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"(%acc, %[[D]], %v)
// SDOT:        %[[Z:.*]] = arith.constant dense<0> : vector<4xi32>
// SDOT:        %[[W:.*]] = llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"(%[[Z]], %[[M]], %v)
// SDOT:        arith.subi %[[S]], %[[W]]
func.func @four_lanes(%b: vector<4xi8>, %v: vector<16xi8>, %acc: vector<4xi32>) -> vector<4xi32> {
  %x = vector.broadcast %b : vector<4xi8> to vector<4x4xi8>
  %w = vector.shape_cast %v : vector<16xi8> to vector<4x4xi8>
  %xe = arith.extui %x : vector<4x4xi8> to vector<4x4xi32>
  %we = arith.extsi %w : vector<4x4xi8> to vector<4x4xi32>
  %p = arith.muli %xe, %we : vector<4x4xi32>
  %s = vector.multi_reduction <add>, %p, %acc [1] : vector<4x4xi32> to vector<4xi32>
  func.return %s : vector<4xi32>
}

// The lanes have the unsigned bytes, which are the first operand of an instruction.
// VNNI-LABEL: func.func @unsigned_lanes
// VNNI: %[[B:.*]] = vector.shuffle %b, %b
// VNNI: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%acc, %v, %[[B]])
// PLAIN-LABEL: func.func @unsigned_lanes
// PLAIN: vector.shuffle %v, %v [0, 4, 8, 12, 16,
// PLAIN: vector.shuffle %b, %b [0, 0, 0, 0,
func.func @unsigned_lanes(%b: vector<4xi8>, %v: vector<64xi8>, %acc: vector<16xi32>) -> vector<16xi32> {
  %x = vector.broadcast %b : vector<4xi8> to vector<16x4xi8>
  %w = vector.shape_cast %v : vector<64xi8> to vector<16x4xi8>
  %xe = arith.extsi %x : vector<16x4xi8> to vector<16x4xi32>
  %we = arith.extui %w : vector<16x4xi8> to vector<16x4xi32>
  %p = arith.muli %we, %xe : vector<16x4xi32>
  %s = vector.multi_reduction <add>, %p, %acc [1] : vector<16x4xi32> to vector<16xi32>
  func.return %s : vector<16xi32>
}
