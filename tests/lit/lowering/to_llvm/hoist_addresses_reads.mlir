// RUN: xrelay-opt %s -p llvm-hoist-addresses | filecheck %s

// Memory that is not written is read once before a fully unrolled loop that surely runs, and so is its broadcast.
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

// A read stays in a loop that may not run, is not unrolled, or branches, and if others may write the memory.
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
