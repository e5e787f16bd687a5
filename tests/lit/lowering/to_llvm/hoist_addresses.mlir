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

// An address in a tile of rows and columns is split into a term for each loop, outside of the loop over vectors, which
// does not change it. Its sums are erased, and equal sums of a second address are not replaced by them.
// CHECK-LABEL: llvm.func @rows_and_columns
// CHECK:         ^terms(%[[k:.*]]: i64):
// CHECK:           %[[y:.*]] = llvm.mul %[[k]], %{{.*}} : i64
// CHECK-NEXT:      %[[p:.*]] = llvm.getelementptr inbounds %{{.*}}[%[[y]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:      %[[z:.*]] = llvm.mul %[[k]], %{{.*}} : i64
// CHECK-NEXT:      %[[q:.*]] = llvm.getelementptr inbounds %{{.*}}[%[[z]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:      llvm.br
// CHECK:         ^rows{{.*}}(%[[h:.*]]: i64):
// CHECK:           %[[r:.*]] = llvm.mul %[[h]], %{{.*}} : i64
// CHECK-NEXT:      %[[pr:.*]] = llvm.getelementptr inbounds %[[p]][%[[r]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:      %[[s:.*]] = llvm.mul %[[h]], %{{.*}} : i64
// CHECK-NEXT:      %[[qr:.*]] = llvm.getelementptr inbounds %[[q]][%[[s]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:      llvm.br
// CHECK:         ^columns{{.*}}(%[[w:.*]]: i64):
// CHECK:           %[[c:.*]] = llvm.mul %[[w]], %{{.*}} : i64
// CHECK-NEXT:      %[[pc:.*]] = llvm.getelementptr inbounds %[[pr]][%[[c]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:      %[[d:.*]] = llvm.mul %[[w]], %{{.*}} : i64
// CHECK-NEXT:      %[[qc:.*]] = llvm.getelementptr inbounds %[[qr]][%[[d]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:      llvm.br
// CHECK:         ^body{{.*}}:
// CHECK-NEXT:      %[[f:.*]] = llvm.load %[[pc]] : !llvm.ptr -> f32
// CHECK-NEXT:      llvm.store %[[f]], %[[qc]] : f32, !llvm.ptr
llvm.func @rows_and_columns(%x: !llvm.ptr, %z: !llvm.ptr, %n: i64, %zero: i64, %one: i64, %c2: i64) {
  llvm.br ^terms(%zero : i64)
^terms(%k: i64):
  %u = llvm.icmp "slt" %k, %n : i64
  llvm.cond_br %u, ^before_rows, ^end
^before_rows:
  llvm.br ^rows(%zero : i64)
^rows(%h: i64):
  %v = llvm.icmp "slt" %h, %c2 : i64
  llvm.cond_br %v, ^before_columns, ^after_rows
^before_columns:
  llvm.br ^columns(%zero : i64)
^columns(%w: i64):
  %t = llvm.icmp "slt" %w, %c2 : i64
  llvm.cond_br %t, ^before_vectors, ^after_columns
^before_vectors:
  llvm.br ^vectors(%zero : i64)
^vectors(%c: i64):
  %s = llvm.icmp "slt" %c, %c2 : i64
  llvm.cond_br %s, ^body, ^after_vectors
^body:
  %two = llvm.mlir.constant(2 : i64) : i64
  %c240 = llvm.mlir.constant(240 : i64) : i64
  %c16 = llvm.mlir.constant(16 : i64) : i64
  %h2 = llvm.mul %h, %two overflow<nsw, nuw> : i64
  %hk = llvm.add %h2, %k overflow<nsw, nuw> : i64
  %row = llvm.mul %hk, %c240 overflow<nsw, nuw> : i64
  %column = llvm.mul %w, %c16 overflow<nsw, nuw> : i64
  %a = llvm.add %row, %column overflow<nsw, nuw> : i64
  %p = llvm.getelementptr inbounds %x[%a] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %f = llvm.load %p : !llvm.ptr -> f32
  %b = llvm.add %row, %column overflow<nsw, nuw> : i64
  %q = llvm.getelementptr inbounds %z[%b] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %f, %q : f32, !llvm.ptr
  %next_c = llvm.add %c, %one : i64
  llvm.br ^vectors(%next_c : i64) {loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
^after_vectors:
  %next_w = llvm.add %w, %one : i64
  llvm.br ^columns(%next_w : i64) {loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
^after_columns:
  %next_h = llvm.add %h, %one : i64
  llvm.br ^rows(%next_h : i64) {loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
^after_rows:
  %next_k = llvm.add %k, %one : i64
  llvm.br ^terms(%next_k : i64)
^end:
  llvm.return
}

// The minimum of indices is moved with the address that needs it; the minimum of floats and the prefetch stay.
// CHECK-LABEL: llvm.func @least
// CHECK-NEXT:      %[[m:.*]] = llvm.call_intrinsic "llvm.smin.i64"(%{{.*}}, %last) : (i64, i64) -> i64
// CHECK-NEXT:      llvm.getelementptr inbounds %{{.*}}[%[[m]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:      llvm.br
// CHECK:         ^body{{.*}}:
// CHECK-NEXT:      llvm.call_intrinsic "llvm.minimum.f32"
// CHECK-NEXT:      llvm.store
// CHECK-NEXT:      llvm.call_intrinsic "llvm.prefetch.p0"
llvm.func @least(%x: !llvm.ptr, %n: i64, %last: i64, %f: f32, %zero: i64, %one: i64, %i0: i32) {
  llvm.br ^head(%zero : i64)
^head(%i: i64):
  %u = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %u, ^body, ^end
^body:
  %m = llvm.call_intrinsic "llvm.smin.i64"(%n, %last) : (i64, i64) -> i64
  %p = llvm.getelementptr inbounds %x[%m] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %g = llvm.call_intrinsic "llvm.minimum.f32"(%f, %f) : (f32, f32) -> f32
  llvm.store %g, %p : f32, !llvm.ptr
  llvm.call_intrinsic "llvm.prefetch.p0"(%p, %i0, %i0, %i0) : (!llvm.ptr, i32, i32, i32) -> ()
  %k = llvm.add %i, %one : i64
  llvm.br ^head(%k : i64)
^end:
  llvm.return
}

// An index that a loop has counted stays whole after the loop.
// CHECK-LABEL: llvm.func @counted
// CHECK:         ^after{{.*}}:
// CHECK-NEXT:      %[[double:.*]] = llvm.add %[[count:.*]], %[[count]] overflow<nsw,nuw> : i64
// CHECK-NEXT:      %[[p:.*]] = llvm.getelementptr inbounds %{{.*}}[%[[count]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:      llvm.store %[[double]], %[[p]] : i64, !llvm.ptr
llvm.func @counted(%x: !llvm.ptr, %n: i64, %zero: i64, %one: i64) {
  llvm.br ^outer(%zero : i64)
^outer(%i: i64):
  %u = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %u, ^before, ^end
^before:
  llvm.br ^inner(%zero : i64)
^inner(%j: i64):
  %t = llvm.icmp "slt" %j, %n : i64
  llvm.cond_br %t, ^body, ^after
^body:
  %k = llvm.add %j, %one : i64
  llvm.br ^inner(%k : i64)
^after:
  %double = llvm.add %j, %j overflow<nsw, nuw> : i64
  %p = llvm.getelementptr inbounds %x[%j] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %double, %p : i64, !llvm.ptr
  %l = llvm.add %i, %one : i64
  llvm.br ^outer(%l : i64)
^end:
  llvm.return
}
