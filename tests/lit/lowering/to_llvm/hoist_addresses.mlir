// RUN: xrelay-opt %s -p llvm-hoist-addresses | filecheck %s

// The remainder is hoisted out of both loops with its constant, the product out of the inner one; the sum needs the
// inner counter. Two equal remainders are merged.
// CHECK-LABEL: llvm.func @nest
// CHECK-NEXT:      %c = llvm.mlir.constant(7) : i64
// CHECK-NEXT:      %r = llvm.urem %n, %c : i64
// CHECK-NEXT:      llvm.br ^{{.*}}(%zero : i64)
// CHECK:         ^outer(%i: i64):
// CHECK:           %p = llvm.mul %i, %n : i64
// CHECK-NEXT:      llvm.br ^{{.*}}(%zero : i64)
// CHECK:         ^inner(%j: i64):
// CHECK-NEXT:      %t = llvm.icmp "slt" %j, %n : i64
// CHECK-NEXT:      llvm.cond_br
// CHECK:           %s = llvm.add %p, %j : i64
// CHECK-NEXT:      %s_1 = llvm.add %s, %r : i64
// CHECK-NEXT:      %s_2 = llvm.add %s_1, %r : i64
// CHECK-NEXT:      %a = llvm.getelementptr
llvm.func @nest(%x: !llvm.ptr, %n: i64, %zero: i64, %one: i64) {
  llvm.br ^outer(%zero : i64)
^outer(%i: i64):
  %u = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %u, ^before, ^end
^before:
  llvm.br ^inner(%zero : i64)
^inner(%j: i64):
  %t = llvm.icmp "slt" %j, %n : i64
  llvm.cond_br %t, ^body, ^latch
^body:
  %c = llvm.mlir.constant(7 : i64) : i64
  %r = llvm.urem %n, %c : i64
  %again = llvm.urem %n, %c : i64
  %p = llvm.mul %i, %n : i64
  %s = llvm.add %p, %j : i64
  %s_1 = llvm.add %s, %r : i64
  %s_2 = llvm.add %s_1, %again : i64
  %a = llvm.getelementptr %x[%s_2] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %s_2, %a : i64, !llvm.ptr
  %k = llvm.add %j, %one : i64
  llvm.br ^inner(%k : i64)
^latch:
  %l = llvm.add %i, %one : i64
  llvm.br ^outer(%l : i64)
^end:
  llvm.return
}

// A quotient by a possible zero, and loads from memory, stay in place.
// CHECK-LABEL: llvm.func @may_fail
// CHECK-NEXT:      llvm.mlir.constant(0) : i64
// CHECK-NEXT:      llvm.br
// CHECK:           llvm.cond_br
// CHECK:           llvm.udiv
// CHECK-NEXT:      llvm.urem
// CHECK-NEXT:      llvm.sdiv
// CHECK-NEXT:      llvm.load
llvm.func @may_fail(%x: !llvm.ptr, %n: i64, %m: i64, %zero: i64, %one: i64) {
  %null = llvm.mlir.constant(0 : i64) : i64
  llvm.br ^head(%zero : i64)
^head(%i: i64):
  %u = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %u, ^body, ^end
^body:
  %a = llvm.udiv %n, %m : i64
  %b = llvm.urem %n, %null : i64
  %c = llvm.sdiv %n, %m : i64
  %d = llvm.load %x : !llvm.ptr -> i64
  %k = llvm.add %i, %one : i64
  llvm.br ^head(%k : i64)
^end:
  llvm.return
}

// The first loop is entered conditionally, the second also in its middle: neither has a preheader.
// CHECK-LABEL: llvm.func @entered_otherwise
// CHECK:         ^head{{[_0-9]*}}(%i
// CHECK-NEXT:      llvm.mul
// CHECK:         ^loop(%j
// CHECK-NEXT:      llvm.br
// CHECK-NEXT:    ^middle
// CHECK-NEXT:      llvm.mul
llvm.func @entered_otherwise(%n: i64, %c: i1, %zero: i64) {
  llvm.cond_br %c, ^head(%zero : i64), ^second
^head(%i: i64):
  %p = llvm.mul %n, %n : i64
  llvm.cond_br %c, ^head(%p : i64), ^second
^second:
  llvm.cond_br %c, ^front, ^middle
^front:
  llvm.br ^loop(%zero : i64)
^loop(%j: i64):
  llvm.br ^middle
^middle:
  %q = llvm.mul %n, %n : i64
  llvm.cond_br %c, ^loop(%q : i64), ^end
^end:
  llvm.return
}

// Consecutive loops have separate preheaders; code without loops has none.
// CHECK-LABEL: llvm.func @row
// CHECK-NEXT:      llvm.mul
// CHECK-NEXT:      llvm.br
// CHECK-NEXT:    ^first
// CHECK-NEXT:      llvm.cond_br
// CHECK-NEXT:    ^between
// CHECK-NEXT:      llvm.mul
// CHECK-NEXT:      llvm.br
// CHECK-NEXT:    ^second
// CHECK-NEXT:      llvm.cond_br
// CHECK-NEXT:    ^end
// CHECK-NEXT:      llvm.mul
llvm.func @row(%n: i64, %c: i1) {
  llvm.br ^first
^first:
  %p = llvm.mul %n, %n : i64
  llvm.cond_br %c, ^first, ^between
^between:
  llvm.br ^second
^second:
  %q = llvm.mul %n, %n : i64
  llvm.cond_br %c, ^second, ^end
^end:
  %r = llvm.mul %n, %n : i64
  llvm.return
}

// In a loop to be unrolled, an address is computed step by step, one for each loop that changes it. Terms that may be
// negative may lead out of the buffer in between.
// CHECK-LABEL: llvm.func @tile
// CHECK:         ^rows(%[[i:.*]]: i64):
// CHECK:           %row = llvm.mul %[[i]], %{{.*}} : i64
// CHECK-NEXT:      %[[p:.*]] = llvm.getelementptr inbounds %{{.*}}[%row] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:      %[[low:.*]] = llvm.add %[[i]], %{{.*}} : i64
// CHECK-NEXT:      %[[q:.*]] = llvm.getelementptr %{{.*}}[%[[low]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK:         ^columns(%[[j:.*]]: i64):
// CHECK:           %[[column:.*]] = llvm.mul %[[j]], %{{.*}} : i64
// CHECK-NEXT:      llvm.getelementptr inbounds %[[p]][%[[column]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK:           llvm.getelementptr %[[q]][%[[j]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
llvm.func @tile(%x: !llvm.ptr, %n: i64, %zero: i64, %one: i64) {
  llvm.br ^rows(%zero : i64)
^rows(%i: i64):
  %u = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %u, ^before, ^end
^before:
  llvm.br ^columns(%zero : i64)
^columns(%j: i64):
  %c4 = llvm.mlir.constant(4 : i64) : i64
  %t = llvm.icmp "slt" %j, %c4 : i64
  llvm.cond_br %t, ^body, ^latch
^body:
  %c8 = llvm.mlir.constant(8 : i64) : i64
  %c2 = llvm.mlir.constant(2 : i64) : i64
  %sum = llvm.mul %j, %c2 overflow<nsw, nuw> : i64
  %row = llvm.mul %i, %c8 overflow<nsw, nuw> : i64
  %a = llvm.add %sum, %row overflow<nsw, nuw> : i64
  %p = llvm.getelementptr inbounds %x[%a] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %minus = llvm.mlir.constant(-3 : i64) : i64
  %b = llvm.add %j, %i overflow<nsw> : i64
  %d = llvm.add %b, %minus overflow<nsw> : i64
  %q = llvm.getelementptr inbounds %x[%d] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %f = llvm.load %q : !llvm.ptr -> f32
  llvm.store %f, %p : f32, !llvm.ptr
  %k = llvm.add %j, %one : i64
  llvm.br ^columns(%k : i64) {loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
^latch:
  %l = llvm.add %i, %one : i64
  llvm.br ^rows(%l : i64)
^end:
  llvm.return
}
