// RUN: xrelay-opt %s -p loop-apply-schedules,loop-lower-blocks --print-debuginfo | filecheck %s
// RUN: xrelay-opt %s -p loop-apply-schedules,loop-lower-blocks,convert-loop-to-scf --print-debuginfo | filecheck %s --check-prefix SCF

// Statements get the location of their block unless they have one. Loops that a schedule made get those of their
// statements, so the loop over both tiles belongs to both nodes.
// CHECK-LABEL: func.func @f
// CHECK: loop.load %{{.*}} loc("a")
// CHECK: math.exp %{{.*}} loc("inlined")
// CHECK: loop.store %{{.*}} loc("a")
// CHECK: } loc(fused["a", "inlined"])
// CHECK: math.tanh %{{.*}} loc("b")
// CHECK: } loc("b")
// CHECK: } loc(fused["a", "inlined", "b"])

// SCF-LABEL: func.func @f
// SCF: math.exp %{{.*}} loc("inlined")
// SCF: math.tanh %{{.*}} loc("b")
// SCF: } loc(fused["a", "inlined", "b"])
func.func @f(%X: memref<64xf32>, %Y: memref<64xf32>) attributes {
  loop.kernel, loop.schedule = #loop.schedule<[split("j", 16), compute_at("one", "j_o")]>
} {
  %t = memref.alloc() : memref<64xf32> loc(unknown)
  loop.for "i" %i to 64 {
    loop.block "one" (%vi : spatial 64 = %i) reads(%X) writes(%t) {
      %x = loop.load %X[%vi] : memref<64xf32> loc(unknown)
      %e = math.exp %x : f32 loc("inlined")
      loop.store %e, %t[%vi] : memref<64xf32> loc(unknown)
    } loc("a")
  } loc(unknown)
  loop.for "j" %j to 64 {
    loop.block "two" (%vj : spatial 64 = %j) reads(%t) writes(%Y) {
      %x = loop.load %t[%vj] : memref<64xf32> loc(unknown)
      %e = math.tanh %x : f32 loc(unknown)
      loop.store %e, %Y[%vj] : memref<64xf32> loc(unknown)
    } loc("b")
  } loc(unknown)
  func.return
}
