// RUN: xrelay-opt %s -p convert-relay-to-topi,topi-expand-named,topi-add-versions | filecheck %s

// The weight must have as many columns as the data have rows, which are 2: there is no version for 1 row.

// CHECK-NOT: loop.version
// CHECK:     func.call @k({{.*}}xrelay.demands
// CHECK-NOT: loop.version
!x = tensor<?x2xf32, #relay.dims<n>>
!w = tensor<?x?xf32, #relay.dims<n, n>>
func.func @main(%x: !x, %w: !w) -> !w {
  %y = func.call @k(%x, %w) : (!x, !w) -> !w
  func.return %y : !w
}
func.func private @k(%x: !x, %w: !w) -> !w attributes {relay.primitive} {
  %y = relay.nn.dense(%x, %w) {relay.requires = #relay.requirements<2 == n "C2 depth">} : (!x, !w) -> !w
  func.return %y : !w
}
