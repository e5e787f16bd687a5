// RUN: xrelay-opt %s | filecheck %s
// RUN: XRELAY_ROUNDTRIP | filecheck %s
// RUN: xrelay-opt %s -p convert-topi-to-loop | filecheck %s --check-prefix LOOP
// RUN: xrelay-opt %s -p 'convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=x86-64-v3 -num-threads=2"},loop-apply-schedules' | filecheck %s --check-prefix SCHEDULED

// CHECK-LABEL: func.func @rows
// CHECK: %r = topi.scatter "rows" [%i : 300, %j : 200] add into %x : tensor<50x200xf32> attributes {note = "kept"} {
// CHECK-NEXT: %k = topi.read %at[%i] : tensor<300xindex>
// CHECK-NEXT: %v = topi.read %u[%i, %j] : tensor<300x200xf32>
// CHECK-NEXT: topi.yield %k, %j, %v : index, index, f32
// CHECK-NEXT: }

// The data is copied; a variable that is itself an index is spatial, any other ordered.
// LOOP-LABEL: func.func @rows
// LOOP: loop.block "copy"
// LOOP: loop.for "rows_i" %rows_i to 300 {
// LOOP-NEXT: loop.for "rows_j" %rows_j to 200 {
// LOOP-NEXT: loop.block "rows" (%vi : ordered 300 = %rows_i, %vj : spatial 200 = %rows_j) reads(%at, %u) writes(%r) attributes {note = "kept"} {
// LOOP-NEXT: %k = loop.load %at[%vi] : memref<300xindex>
// LOOP-NEXT: %v = loop.load %u[%vi, %vj] : memref<300x200xf32>
// LOOP-NEXT: [[OLD:%.*]] = loop.load %r[%k, %vj] : memref<50x200xf32>
// LOOP-NEXT: [[NEW:%.*]] = arith.addf [[OLD]], %v : f32
// LOOP-NEXT: loop.store [[NEW]], %r[%k, %vj] : memref<50x200xf32>

// Threads and lanes along the axis that separates updates; the updates of an element are in order.
// SCHEDULED-LABEL: func.func @rows
// SCHEDULED: loop.for "rows_j_o" %rows_j_o to 25 parallel {
// SCHEDULED-NEXT: loop.for "rows_i" %rows_i to 300 {
// SCHEDULED-NEXT: loop.for "rows_j_v" %rows_j_v to 8 vectorized {
func.func @rows(%x: tensor<50x200xf32>, %at: tensor<300xindex>, %u: tensor<300x200xf32>) -> tensor<50x200xf32> {
  %r = topi.scatter "rows" [%i : 300, %j : 200] add into %x : tensor<50x200xf32> attributes {note = "kept"} {
    %k = topi.read %at[%i] : tensor<300xindex>
    %v = topi.read %u[%i, %j] : tensor<300x200xf32>
    topi.yield %k, %j, %v : index, index, f32
  }
  func.return %r : tensor<50x200xf32>
}

// An `update` scatter does not read the result; unsigned numbers are compared as unsigned.
// LOOP-LABEL: func.func @update
// LOOP: loop.block "last" (%vi : ordered 3 = %last_i) reads(%at) writes(%r) {
// LOOP: loop.block "most" (%vi_1 : ordered 3 = %most_i) reads(%at) writes(%s) {
// LOOP: arith.maxui
func.func @update(%x: tensor<9xui8>, %at: tensor<3xindex>) -> (tensor<9xui8>, tensor<9xui8>) {
  %r = topi.scatter "last" [%i : 3] update into %x : tensor<9xui8> {
    %k = topi.read %at[%i] : tensor<3xindex>
    %one = arith.constant 1 : i8
    topi.yield %k, %one : index, i8
  }
  %s = topi.scatter "most" [%i : 3] max into %x : tensor<9xui8> {
    %k = topi.read %at[%i] : tensor<3xindex>
    %one = arith.constant 1 : i8
    topi.yield %k, %one : index, i8
  }
  func.return %r, %s : tensor<9xui8>, tensor<9xui8>
}
