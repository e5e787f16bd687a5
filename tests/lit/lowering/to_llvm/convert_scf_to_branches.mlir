// RUN: xrelay-opt %s -p convert-scf-to-branches | filecheck %s

// The backward branch has the loop's annotation.
// CHECK-LABEL: func.func @annotated
// CHECK:       cf.br ^[[HEADER:.*]](%lb : index)
// CHECK:       ^[[HEADER]](%i: index):
// CHECK-NEXT:    [[MORE:%.*]] = arith.cmpi slt, %i, %ub : index
// CHECK-NEXT:    cf.cond_br [[MORE]], ^[[BODY:.*]], ^[[AFTER:.*]]
// CHECK:       ^[[BODY]]:
// CHECK-NEXT:    "test.op"(%i)
// CHECK-NEXT:    [[NEXT:%.*]] = arith.addi %i, %step overflow<nsw> : index
// CHECK-NEXT:    cf.br ^[[HEADER]]([[NEXT]] : index) {llvm.loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
// CHECK:       ^[[AFTER]]:
// CHECK-NEXT:    func.return
func.func @annotated(%lb: index, %ub: index, %step: index) {
  scf.for %i = %lb to %ub step %step {
    "test.op"(%i) : (index) -> ()
  } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
  func.return
}

// Without an annotation of the loop the branch has no annotation.
// CHECK-LABEL: func.func @carried
// CHECK:       cf.br ^[[HEADER:.*]](%lb, %init : index, f32)
// CHECK:       ^[[HEADER]](%i: index, %a: f32):
// CHECK:         arith.addf %a, %a
// CHECK:         cf.br ^[[HEADER]]({{.*}}, {{.*}} : index, f32){{$}}
// CHECK:         func.return %a : f32
func.func @carried(%lb: index, %ub: index, %step: index, %init: f32) -> f32 {
  %r = scf.for %i = %lb to %ub step %step iter_args(%a = %init) -> (f32) {
    %b = arith.addf %a, %a : f32
    scf.yield %b : f32
  }
  func.return %r : f32
}

// CHECK-LABEL: func.func @nested
// CHECK-NOT:   scf.
// CHECK:       {llvm.loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
// CHECK:       {llvm.loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
func.func @nested(%lb: index, %ub: index, %step: index) {
  scf.for %i = %lb to %ub step %step {
    scf.for %j = %lb to %ub step %step {
      "test.op"(%i, %j) : (index, index) -> ()
    } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
  } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
  func.return
}

// CHECK-LABEL: func.func @while
// CHECK:       cf.br ^[[BEFORE:.*]](%init : i32)
// CHECK:       ^[[BEFORE]](%a: i32):
// CHECK-NEXT:    [[C:%.*]] = "test.op"(%a) : (i32) -> i1
// CHECK-NEXT:    cf.cond_br [[C]], ^[[BODY:.*]](%a : i32), ^[[AFTER:.*]]
// CHECK:       ^[[BODY]]([[V:%.*]]: i32):
// CHECK:         cf.br ^[[BEFORE]]({{.*}} : i32) {llvm.loop_annotation = #llvm.loop_annotation<mustProgress = true>}
// CHECK:       ^[[AFTER]]:
// CHECK-NEXT:    func.return %a : i32
func.func @while(%init: i32) -> i32 {
  %r = "scf.while"(%init) ({
  ^bb0(%a: i32):
    %c = "test.op"(%a) : (i32) -> i1
    scf.condition(%c) %a : i32
  }, {
  ^bb1(%v: i32):
    %n = arith.addi %v, %v : i32
    scf.yield %n : i32
  }) {llvm.loop_annotation = #llvm.loop_annotation<mustProgress = true>} : (i32) -> i32
  func.return %r : i32
}

// CHECK-LABEL: func.func @choice
// CHECK:         cf.cond_br %c, ^[[THEN:.*]], ^[[ELSE:.*]]
// CHECK:       ^[[THEN]]:
// CHECK-NEXT:    cf.br ^[[AFTER:.*]](%x : f32)
// CHECK:       ^[[ELSE]]:
// CHECK:         cf.br ^[[AFTER]]({{.*}} : f32)
// CHECK:       ^[[AFTER]](%r: f32):
// CHECK-NEXT:    func.return %r : f32
func.func @choice(%c: i1, %x: f32) -> f32 {
  %r = scf.if %c -> (f32) {
    scf.yield %x : f32
  } else {
    %n = arith.negf %x : f32
    scf.yield %n : f32
  }
  func.return %r : f32
}

// CHECK-LABEL: func.func @no_else
// CHECK:         cf.cond_br %c, ^[[THEN:.*]], ^[[AFTER:.*]]
// CHECK:       ^[[THEN]]:
// CHECK:         cf.br ^[[AFTER]]
func.func @no_else(%c: i1) {
  scf.if %c {
    "test.op"() : () -> ()
  }
  func.return
}

// CHECK-LABEL: func.func @straight
// CHECK-NEXT:    func.return
func.func @straight() {
  func.return
}
