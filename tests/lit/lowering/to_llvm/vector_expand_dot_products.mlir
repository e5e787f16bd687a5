// RUN: xrelay-opt %s -p vector-expand-dot-products | filecheck %s --check-prefixes ANY,PLAIN
// RUN: xrelay-opt %s -p 'vector-expand-dot-products{instruction=vpdpbusd}' | filecheck %s --check-prefixes ANY,VNNI
// RUN: xrelay-opt %s -p 'vector-expand-dot-products{instruction=pmaddwd}' | filecheck %s --check-prefixes ANY,PAIRS
// RUN: xrelay-opt %s -p 'vector-expand-dot-products{instruction=vpdpbusd width=256}' | filecheck %s --check-prefixes ANY,PLAIN
// RUN: not xrelay-opt %s -p 'vector-expand-dot-products{instruction=dot}' 2>&1 | filecheck %s --check-prefix UNKNOWN

// UNKNOWN: error: vector-expand-dot-products: no instruction is called 'dot'; help: known are vpdpbusd, pmaddwd

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
