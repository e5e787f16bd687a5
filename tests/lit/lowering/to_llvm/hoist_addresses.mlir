// RUN: xrelay-opt %s -p llvm-hoist-addresses | filecheck %s

// The remainder goes in front of both loops and takes its constant with it, the product in front of the inner one; the
// sum needs the inner counter. Of two equal remainders one stays.
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

// A quotient by what may be zero stays where it is asked for, and so does what is read from memory.
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

// The first loop is entered by a choice, the second in its middle as well: nothing in front of them is always met.
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

// Two loops in a row have places of their own; code without loops has none.
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

// What nobody writes is read once for a loop that is unrolled whole, which surely runs, and so is the vector made of it.
// CHECK-LABEL: llvm.func @reads
// CHECK:           llvm.load %x
// CHECK-NEXT:      llvm.insertelement
// CHECK-NEXT:      llvm.shufflevector
// CHECK-NEXT:      llvm.br
// CHECK-NEXT:    ^head
// CHECK:           llvm.load %y
// CHECK-NEXT:      llvm.store
llvm.func @reads(%x: !llvm.ptr {llvm.noalias}, %y: !llvm.ptr {llvm.noalias}, %z: !llvm.ptr {llvm.noalias}) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %four = llvm.mlir.constant(4 : i64) : i64
  llvm.br ^head(%zero : i64)
^head(%i: i64):
  %u = llvm.icmp "slt" %i, %four : i64
  llvm.cond_br %u, ^body, ^end
^body:
  %a = llvm.load %x : !llvm.ptr -> f32
  %p = llvm.mlir.poison : vector<4xf32>
  %c = llvm.mlir.constant(0 : i64) : i64
  %v = llvm.insertelement %a, %p[%c : i64] : vector<4xf32>
  %w = llvm.shufflevector %v, %p [0, 0, 0, 0] : vector<4xf32>
  %b = llvm.load %y : !llvm.ptr -> f32
  llvm.store %b, %y : f32, !llvm.ptr
  %d = llvm.getelementptr %z[%i] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xf32>
  llvm.store %w, %d : vector<4xf32>, !llvm.ptr
  %k = llvm.add %i, %one : i64
  llvm.br ^head(%k : i64) {loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
^end:
  llvm.return
}

// A read stays in a loop that may not run, that is not unrolled, behind a choice, and where others may write.
// CHECK-LABEL: llvm.func @reads_stay
// CHECK:         ^body{{[_0-9]*}}:
// CHECK-NEXT:      llvm.load
// CHECK:         ^rolled_body{{[_0-9]*}}:
// CHECK-NEXT:      llvm.load
// CHECK:         ^yes{{[_0-9]*}}:
// CHECK-NEXT:      llvm.load
// CHECK:         ^other_body{{[_0-9]*}}:
// CHECK-NEXT:      llvm.load
llvm.func @reads_stay(%x: !llvm.ptr {llvm.noalias}, %y: !llvm.ptr, %n: i64, %t: i1) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %four = llvm.mlir.constant(4 : i64) : i64
  llvm.br ^head(%zero : i64)
^head(%i: i64):
  %u = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %u, ^body, ^rolled_front
^body:
  %a = llvm.load %x : !llvm.ptr -> i64
  %i1 = llvm.add %i, %a : i64
  llvm.br ^head(%i1 : i64) {loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
^rolled_front:
  llvm.br ^rolled(%zero : i64)
^rolled(%j: i64):
  %v = llvm.icmp "slt" %j, %four : i64
  llvm.cond_br %v, ^rolled_body, ^choice_front
^rolled_body:
  %b = llvm.load %x : !llvm.ptr -> i64
  %j1 = llvm.add %j, %b : i64
  llvm.br ^rolled(%j1 : i64)
^choice_front:
  llvm.br ^choice(%zero : i64)
^choice(%k: i64):
  %w = llvm.icmp "slt" %k, %four : i64
  llvm.cond_br %w, ^choice_body, ^other_front
^choice_body:
  llvm.cond_br %t, ^yes, ^no(%one : i64)
^yes:
  %c = llvm.load %x : !llvm.ptr -> i64
  llvm.br ^no(%c : i64)
^no(%s: i64):
  %k1 = llvm.add %k, %s : i64
  llvm.br ^choice(%k1 : i64) {loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
^other_front:
  llvm.br ^other(%zero : i64)
^other(%l: i64):
  %z = llvm.icmp "slt" %l, %four : i64
  llvm.cond_br %z, ^other_body, ^end
^other_body:
  %d = llvm.load %y : !llvm.ptr -> i64
  %l1 = llvm.add %l, %d : i64
  llvm.br ^other(%l1 : i64) {loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
^end:
  llvm.return
}
