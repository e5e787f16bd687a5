// RUN: xrelay-opt %s -p 'convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=x86-64-v3 -num-threads=1"}' | filecheck %s
// RUN: xrelay-opt %s -p 'convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=x86-64-v3 -num-threads=1"},loop-apply-schedules' | filecheck %s --check-prefix NEST

// CHECK: loop.schedule = #loop.schedule<[split("leaf_j", 16, names = ["leaf_j_o", "leaf_j_i"]), split("leaf_i", 64, names = ["leaf_i_o", "leaf_i_i"]), reorder("leaf_j_o", "leaf_i_i"), compute_at("walk", "leaf_i_i"), reorder("walk_k", "walk_j"), unroll("walk_j"), exit_early("walk_k")]>
// CHECK-SAME: walk walks 16 at once
// NEST: loop.for "leaf_i_o"
// NEST-NEXT: loop.for "leaf_j_o"
// NEST-NEXT: loop.for "leaf_i_i"
// NEST: loop.for "walk_k" %{{.*}} to 30 early_exit {
// NEST-NEXT: loop.for "walk_j" %{{.*}} to 16 unrolled {
func.func private @walks(%x: tensor<?x16xi32, #relay.dims<n>>, %next: tensor<99xi32>) -> tensor<?x40xi32, #relay.dims<n>> attributes {relay.primitive} {
  %w = topi.compute "walk" [%i : n, %j : 40] reduce [%k : 30] init [%acc = 0 : i32] : tensor<?x40xi32, #relay.dims<n>> {
    %place = arith.index_castui %acc : i32 to index
    %column = topi.read %next[%place] : tensor<99xi32>
    %c = arith.index_castui %column : i32 to index
    %new = topi.read %x[%i, %c] : tensor<?x16xi32, #relay.dims<n>>
    topi.yield %new : i32
  }
  %r = topi.compute "leaf" [%i : n, %j : 40] : tensor<?x40xi32, #relay.dims<n>> {
    %a = topi.read %w[%i, %j] : tensor<?x40xi32, #relay.dims<n>>
    topi.yield %a : i32
  }
  func.return %r : tensor<?x40xi32, #relay.dims<n>>
}

// A fold that depends on its step number runs all steps.
// CHECK-LABEL: @numbered(
// CHECK-SAME: unroll("step_j")]>
// CHECK-SAME: no early end of the walks: exit_early(\22step_k\22): loop 'step_k': block 'step' computes with its index
func.func private @numbered(%next: tensor<9x8xi32>) -> tensor<4x40xi32> attributes {relay.primitive} {
  %w = topi.compute "step" [%i : 4, %j : 40] reduce [%k : 9] init [%acc = 0 : i32] : tensor<4x40xi32> {
    %place = arith.index_castui %acc : i32 to index
    %new = topi.read %next[%k, %place] : tensor<9x8xi32>
    topi.yield %new : i32
  }
  %r = topi.compute "last" [%i : 4, %j : 40] : tensor<4x40xi32> {
    %a = topi.read %w[%i, %j] : tensor<4x40xi32>
    topi.yield %a : i32
  }
  func.return %r : tensor<4x40xi32>
}
