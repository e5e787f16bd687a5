// RUN: rm -f %t.jsonl
// RUN: xrelay-opt %s -p 'convert-topi-to-loop' > %t.loop.mlir
// RUN: python %S/Inputs/write_record.py %t.loop.mlir measured %t.jsonl 'cpu -mcpu=znver4' 'split("i", 4)'
// RUN: python %S/Inputs/write_record.py %t.loop.mlir illegal %t.jsonl 'cpu -mcpu=znver4' 'split("absent", 4)'
// RUN: sed 's/"nanoseconds": 1000/"nanoseconds": 1990/' %t.jsonl > %t.slow.jsonl
// RUN: xrelay-opt %t.loop.mlir -p 'loop-assign-records{file="%t.jsonl" target="cpu -mcpu=znver4"}' 2>&1 | filecheck %s
// RUN: xrelay-opt %t.loop.mlir -p 'loop-assign-records{file="%t.slow.jsonl" target="cpu -mcpu=znver4"}' 2>&1 | filecheck %s --check-prefix SLOW
// RUN: xrelay-opt %t.loop.mlir -p 'loop-assign-records{file="%t.jsonl" target="cpu -mcpu=haswell"}' 2>&1 | filecheck %s --check-prefix OTHER


// The fastest schedule of a record is attached to the kernel that it was measured for.
// CHECK: warning: the tuning record for @illegal is not applied: {{.*}}absent
// CHECK-LABEL: func.func private @measured
// CHECK-SAME: loop.schedule = #loop.schedule<[split("i", 4)]>
// CHECK-SAME: loop.schedule_reason = "measured: 1.0 us by family: fastest, 2.0 us by the first choice"
// CHECK: loop.for "i"
func.func private @measured(%x: tensor<16xf32>) -> tensor<16xf32> attributes {relay.primitive} {
  %y = topi.compute "y" [%i : 16] : tensor<16xf32> {
    %a = topi.read %x[%i] : tensor<16xf32>
    %s = arith.addf %a, %a : f32
    topi.yield %s : f32
  }
  func.return %y : tensor<16xf32>
}

// A schedule that is not legal is not attached.
// CHECK-LABEL: func.func private @illegal
// CHECK-NOT: loop.schedule
func.func private @illegal(%x: tensor<24xf32>) -> tensor<24xf32> attributes {relay.primitive} {
  %y = topi.compute "y" [%i : 24] : tensor<24xf32> {
    %a = topi.read %x[%i] : tensor<24xf32>
    %s = arith.addf %a, %a : f32
    topi.yield %s : f32
  }
  func.return %y : tensor<24xf32>
}

// A kernel without a record stays unchanged.
// CHECK-LABEL: func.func private @unknown
// CHECK-NOT: loop.schedule
func.func private @unknown(%x: tensor<32xf32>) -> tensor<32xf32> attributes {relay.primitive} {
  %y = topi.compute "y" [%i : 32] : tensor<32xf32> {
    %a = topi.read %x[%i] : tensor<32xf32>
    %s = arith.addf %a, %a : f32
    topi.yield %s : f32
  }
  func.return %y : tensor<32xf32>
}

// The first choice is kept unless another candidate is faster by more than 5 %.
// SLOW-LABEL: func.func private @measured
// SLOW-NOT: loop.schedule

// A record applies to its target only.
// OTHER: warning: {{.*}}.jsonl has no tuning record for a kernel of the module on cpu -mcpu=haswell
// OTHER-NOT: loop.schedule
