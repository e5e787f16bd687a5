// RUN: xrelay-opt %s -p 'loop-exit-early{loop=k}' --split-input-file | filecheck %s
// RUN: xrelay-opt %s -p 'loop-unroll{loop=j},loop-exit-early{loop=k},loop-lower-blocks,convert-loop-to-scf' --split-input-file | filecheck %s --check-prefix SCF
// RUN: not xrelay-opt %s -p 'loop-exit-early{loop=j}' 2>&1 | filecheck %s --check-prefix INDEX
// RUN: not xrelay-opt %s -p 'loop-unroll{loop=k},loop-exit-early{loop=k}' 2>&1 | filecheck %s --check-prefix KIND
// RUN: not xrelay-opt %s -p 'loop-exit-early{loop=k_f}' 2>&1 | filecheck %s --check-prefix FLOATS
// RUN: not xrelay-opt %s -p 'loop-exit-early{loop=k},loop-split{loop=k factor=2}' 2>&1 | filecheck %s --check-prefix SPLIT

// CHECK: loop.for "k" %k to 9 early_exit {
// CHECK-NEXT: loop.for "j" %j to 4 {
// INDEX: error: exit_early("j"): loop 'j': block 'walk' computes with its index; help: leave it serial
// KIND: error: exit_early("k"): loop 'k': it is unrolled; help: name a serial loop
// SPLIT: error: split("k", 2): loop 'k': it is early_exit
// SCF-LABEL: @walk(
// SCF: %[[CHANGED:.*]] = memref.alloca() {alignment = 64 : i64} : memref<1xi64>
// SCF: scf.while (%[[K:.*]] = %{{.*}}) : (index) -> index {
// SCF: arith.cmpi slt, %[[K]]
// SCF: } do {
// SCF: memref.store %{{.*}}, %[[CHANGED]]
// SCF: scf.for
// SCF: %[[DIFFERENCE:.*]] = arith.xori
// SCF: arith.extui %[[DIFFERENCE]] : i32 to i64
// SCF: arith.ori
// SCF: %[[MORE:.*]] = arith.cmpi ne
// SCF: arith.select %[[MORE]]
func.func private @walk(%next: memref<16xi32>, %node: memref<4xi32>) attributes {loop.kernel} {
  loop.for "k" %k to 9 {
    loop.for "j" %j to 4 {
      loop.block "walk" (%vj : spatial 4 = %j, %vk : ordered 9 = %k) reads(%next) writes(%node) {
        %old = loop.load %node[%vj] : memref<4xi32>
        %place = arith.index_cast %old : i32 to index
        %new = loop.load %next[%place] : memref<16xi32>
        loop.store %new, %node[%vj] : memref<4xi32>
      }
    }
  }
  func.return
}

// FLOATS: error: exit_early("k_f"): loop 'k_f': block 'halve' stores elements of memref<4xf32>, not integers
func.func private @floats(%y: memref<4xf32>) attributes {loop.kernel} {
  loop.for "k_f" %k to 9 {
    loop.for "j_f" %j to 4 {
      loop.block "halve" (%vj : spatial 4 = %j, %vk : ordered 9 = %k) reads() writes(%y) {
        %old = loop.load %y[%vj] : memref<4xf32>
        %new = arith.mulf %old, %old : f32
        loop.store %new, %y[%vj] : memref<4xf32>
      }
    }
  }
  func.return
}
