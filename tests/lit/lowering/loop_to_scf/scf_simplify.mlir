// RUN: xrelay-opt %s -p scf-simplify | filecheck %s
// RUN: xrelay-opt %s -p canonicalize,cse -o %t.general
// RUN: xrelay-opt %s -p scf-simplify -o %t.simplified
// RUN: diff %t.general %t.simplified

// Unused ops are removed, also ops used only by unused ops, and empty loops.
// CHECK-LABEL: func.func @unused(
// CHECK-NEXT:    func.return
func.func @unused(%x: memref<8xf32>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = arith.addi %n, %n : index
  %product = arith.muli %sum, %n : index
  scf.for %i = %zero to %n step %one {
    %read = memref.load %x[%i] : memref<8xf32>
    %twice = arith.addf %read, %read : f32
  }
  func.return
}

// Equal ops are merged, also if the first is in an outer block; ops of other types or attributes stay.
// CHECK-LABEL: func.func @equal(
// CHECK-NEXT:    [[ZERO:%.*]] = arith.constant 0 : index
// CHECK-NEXT:    [[ONE:%.*]] = arith.constant 1 : index
// CHECK-NEXT:    [[SUM:%.*]] = arith.addi %n, %n : index
// CHECK-NEXT:    [[OTHER:%.*]] = arith.addi %n, %n overflow<nsw> : index
// CHECK-NEXT:    [[NUMBER:%.*]] = arith.constant 0 : i64
// CHECK-NEXT:    "test.op"([[SUM]]) : (index) -> ()
// CHECK-NEXT:    scf.for %i = [[ZERO]] to %n step [[ONE]] {
// CHECK-NEXT:      "test.op"([[ZERO]], [[SUM]], [[OTHER]], [[NUMBER]]) : (index, index, index, i64) -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    "test.op"([[SUM]]) : (index) -> ()
func.func @equal(%n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = arith.addi %n, %n : index
  %other = arith.addi %n, %n overflow<nsw> : index
  %number = arith.constant 0 : i64
  "test.op"(%sum) : (index) -> ()
  scf.for %i = %zero to %n step %one {
    %again = arith.constant 0 : index
    %inner = arith.addi %n, %n : index
    "test.op"(%again, %inner, %other, %number) : (index, index, index, i64) -> ()
  }
  %last = arith.addi %n, %n : index
  "test.op"(%last) : (index) -> ()
  func.return
}

// Views of one offset as buffers of two types: each is merged with its equal.
// CHECK-LABEL: func.func @types(
// CHECK-COUNT-2: memref.view
// CHECK-NOT:     memref.view
// CHECK:         func.return
func.func @types(%arena: memref<64xi8>) {
  %zero = arith.constant 0 : index
  %a = "memref.view"(%arena, %zero) : (memref<64xi8>, index) -> memref<16xf32>
  %b = "memref.view"(%arena, %zero) : (memref<64xi8>, index) -> memref<4x4xf32>
  %c = "memref.view"(%arena, %zero) : (memref<64xi8>, index) -> memref<4x4xf32>
  "test.op"(%a, %b, %c) : (memref<16xf32>, memref<4x4xf32>, memref<4x4xf32>) -> ()
  func.return
}

// A value of one branch is not visible in the other, nor after both.
// CHECK-LABEL: func.func @branches(
// CHECK:         scf.if
// CHECK-NEXT:      arith.addi
// CHECK:         } else {
// CHECK-NEXT:      arith.addi
// CHECK:         }
// CHECK-NEXT:    arith.addi
func.func @branches(%p: i1, %n: index) {
  scf.if %p {
    %a = arith.addi %n, %n : index
    "test.op"(%a) : (index) -> ()
  } else {
    %b = arith.addi %n, %n : index
    "test.op"(%b, %b) : (index, index) -> ()
  }
  %c = arith.addi %n, %n : index
  "test.op"(%c) : (index) -> ()
  func.return
}

// Memory is read once until it is written, also in a loop; another block reads it again.
// CHECK-LABEL: func.func @memory(
// CHECK:         [[A:%.*]] = memref.load %x
// CHECK-NEXT:    [[B:%.*]] = arith.addf [[A]], [[A]]
// CHECK-NEXT:    memref.store [[B]], %x
// CHECK-NEXT:    [[C:%.*]] = memref.load %x
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      [[D:%.*]] = memref.load %x
// CHECK-NEXT:      memref.store [[D]], %x
// CHECK-NEXT:    }
// CHECK-NEXT:    [[E:%.*]] = memref.load %x
// CHECK-NEXT:    "test.op"([[C]], [[E]])
func.func @memory(%x: memref<8xf32>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = memref.load %x[%zero] : memref<8xf32>
  %again = memref.load %x[%zero] : memref<8xf32>
  %b = arith.addf %a, %again : f32
  memref.store %b, %x[%one] : memref<8xf32>
  %c = memref.load %x[%zero] : memref<8xf32>
  scf.for %i = %zero to %n step %one {
    %d = memref.load %x[%zero] : memref<8xf32>
    memref.store %d, %x[%i] : memref<8xf32>
  }
  %e = memref.load %x[%zero] : memref<8xf32>
  "test.op"(%c, %e) : (f32, f32) -> ()
  func.return
}

// If a pattern applies, `canonicalize` folds all.
// CHECK-LABEL: func.func @folds(
// CHECK-NEXT:    [[SIX:%.*]] = arith.constant 6 : index
// CHECK-NEXT:    "test.op"([[SIX]]) : (index) -> ()
// CHECK-NEXT:    func.return
func.func @folds() {
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %product = arith.muli %two, %three : index
  "test.op"(%product) : (index) -> ()
  func.return
}

// A function with branching blocks is left to the general passes.
// CHECK-LABEL: func.func @blocks(
// CHECK:         cf.cond_br
func.func @blocks(%p: i1, %n: index) -> index {
  %unused = arith.addi %n, %n : index
  cf.cond_br %p, ^bb1, ^bb2
^bb1:
  %a = arith.muli %n, %n : index
  %b = arith.muli %n, %n : index
  %c = arith.addi %a, %b : index
  func.return %c : index
^bb2:
  func.return %n : index
}

// Ops that allocate, call, or are unknown stay.
// CHECK-LABEL: func.func @effects(
// CHECK-COUNT-2: func.call @g()
// CHECK-COUNT-2: "test.op"()
// CHECK:         func.return
func.func @effects() {
  %a = func.call @g() : () -> index
  %b = func.call @g() : () -> index
  %c = "test.op"() : () -> index
  %d = "test.op"() : () -> index
  func.return
}

// CHECK: func.func private @g() -> index
func.func private @g() -> index

// A pattern inserts new ops before the op that it matches, in any order of matching.
// CHECK-LABEL: func.func @inserts(
// CHECK:         %{{.*}} = arith.constant 4 : index
// CHECK-NEXT:    scf.for
func.func @inserts(%n: index, %x: memref<8xindex>) -> i1 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    %four = arith.constant 4 : index
    %a = arith.muli %n, %four : index
    memref.store %a, %x[%i] : memref<8xindex>
  }
  %last = memref.load %x[%zero] : memref<8xindex>
  %equal = arith.cmpi eq, %last, %n : index
  func.return %equal : i1
}
