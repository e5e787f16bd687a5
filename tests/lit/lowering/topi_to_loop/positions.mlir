// RUN: xrelay-opt %s -p convert-topi-to-loop | filecheck %s
// RUN: xrelay-opt %s -p 'convert-topi-to-loop,loop-assign-schedules{target="cpu -mcpu=znver4 -num-threads=2"},loop-apply-schedules' | filecheck %s --check-prefix=SCHEDULED
// RUN: not xrelay-opt %s -p 'convert-topi-to-loop,loop-reorder{loops=i1,i0}' 2>&1 | filecheck %s --check-prefix=REORDERED

// The list is cleared; then each element in order stores its position, or zero, at the next index.
// CHECK-LABEL: func.func private @where
// CHECK-NEXT: loop.for "i" %i to 20 {
// CHECK:      loop.for "i0" %i0 to 4 {
// CHECK-NEXT:   loop.for "i1" %i1 to 5 {
// CHECK-NEXT:     loop.block "positions" (%v0 : ordered 4 = %i0, %v1 : ordered 5 = %i1) reads(%m) writes(%p, %n) init {
// CHECK:            loop.store %{{.*}}, %n[] : memref<i64>
// CHECK:          arith.select
// CHECK:          loop.store %{{.*}}, %p[%{{.*}}] : memref<20xi64>
// SCHEDULED: loop.for "i0" {{.*}} to 4 {
// SCHEDULED-NEXT: loop.for "i1" {{.*}} to 5 {
// REORDERED: block 'positions' depends on the order of it and 'i0'
func.func private @where(%m: tensor<4x5xi1>) -> (tensor<20xi64>, tensor<i64>) attributes {relay.primitive} {
  %p, %n = topi.positions(%m) : (tensor<4x5xi1>) -> (tensor<20xi64>, tensor<i64>)
  func.return %p, %n : tensor<20xi64>, tensor<i64>
}
