// RUN: xrelay-opt %s -p convert-topi-to-loop --split-input-file | filecheck %s

!n = tensor<?xf32, #relay.dims<n>>
!p = tensor<?xf32, #relay.dims<p>>
!two = tensor<2xi64>

// Kernels on a few integers become code of the graph: elements of constants are numbers, sizes come from values.
// CHECK-LABEL: func.func @main(%x: memref<?xf32> {{.*}}, %s: memref<2xi64>, %n: index
// CHECK-NOT:     memref.alloc() : memref<2xi64>
// CHECK:         %[[S:.*]] = memref.load %s[%{{.*}}] : memref<2xi64>
// CHECK:         %[[M:.*]] = arith.maxsi %[[S]], %{{.*}} : i64
// CHECK:         %[[N:.*]] = arith.index_cast %n : index to i64
// CHECK:         arith.divsi %[[N]], %[[M]] {loop.positive_divisor} : i64
// CHECK:         %p = arith.index_cast
// CHECK:         func.call @fill
// CHECK-NOT:   @floor
// CHECK-NOT:   @parts
func.func @main(%x: !n, %s: !two) -> !p {
  %c = relay.constant dense<[3, 1]> : !two
  %a = func.call @floor(%s, %c) : (!two, !two) -> !two
  %b = func.call @parts(%x, %a) : (!n, !two) -> !two
  %v = relay.extents(%b) {relay.binds = #relay.bounds<p, q>} : (!two) -> !two
  %y = func.call @fill(%v) : (!two) -> !p
  func.return %y : !p
}

// The maxima of elements, with those of the second list in reverse order.
func.func private @floor(%s: !two, %c: !two) -> !two attributes {relay.primitive} {
  %r = topi.compute "floor" [%i : 2] : !two {
    %0 = topi.read %s[%i] : !two
    %1 = topi.read %c[%i * -1 + 1] : !two
    %2 = arith.maxsi %0, %1 : i64
    topi.yield %2 : i64
  }
  func.return %r : !two
}

// A size split into parts, and the end of the list: a static position is resolved at compile time.
func.func private @parts(%x: !n, %a: !two) -> !two attributes {relay.primitive} {
  %r = topi.compute "parts" [%i : 2] : !two {
    %0 = topi.in_bounds [%i] of [1]
    %1 = topi.guard (%0) -> i64 {
      %2 = topi.index [n]
      %3 = arith.index_cast %2 : index to i64
      %4 = topi.read %a[0] : !two
      %5 = arith.divsi %3, %4 : i64
      topi.yield %5 : i64
    } else {
      %6 = arith.constant 0 : i64
      topi.yield %6 : i64
    }
    topi.yield %1 : i64
  }
  func.return %r : !two
}

func.func private @fill(%x: !two) -> !p attributes {relay.primitive} {
  %r = topi.compute "fill" [%i : p] : !p {
    %0 = arith.constant 1.0 : f32
    topi.yield %0 : f32
  }
  func.return %r : !p
}

// -----

!n = tensor<?xf32, #relay.dims<n>>
!one = tensor<1xi64>

// The operands of a kernel are in memory; a fold is computed term by term.
// CHECK-LABEL: func.func @folds
// CHECK:         %[[P:.*]] = arith.muli %{{.*}}, %{{.*}} : i64
// CHECK:         %[[Q:.*]] = arith.muli %[[P]], %{{.*}} : i64
// CHECK-NEXT:    %a = memref.alloc() : memref<i64>
// CHECK-NEXT:    memref.store %[[Q]], %a[] : memref<i64>
// CHECK:         func.call @scaled(%x, %a
func.func @folds(%x: !n, %s: tensor<2xi64>) -> !n {
  %a = func.call @product(%s) : (tensor<2xi64>) -> tensor<i64>
  %y = func.call @scaled(%x, %a) : (!n, tensor<i64>) -> !n
  func.return %y : !n
}

func.func private @product(%s: tensor<2xi64>) -> tensor<i64> attributes {relay.primitive} {
  %r = topi.compute "product" [] reduce [%k : 2] init [%p = 1 : i64] : tensor<i64> {
    %0 = topi.read %s[%k] : tensor<2xi64>
    %1 = arith.muli %p, %0 : i64
    topi.yield %1 : i64
  }
  func.return %r : tensor<i64>
}

func.func private @scaled(%x: !n, %a: tensor<i64>) -> !n attributes {relay.primitive} {
  %r = topi.compute "scaled" [%i : n] : !n {
    %0 = topi.read %x[%i] : !n
    %1 = topi.read %a[] : tensor<i64>
    %2 = arith.sitofp %1 : i64 to f32
    %3 = arith.mulf %0, %2 : f32
    topi.yield %3 : f32
  }
  func.return %r : !n
}

// -----

!n = tensor<?xf32, #relay.dims<n>>

// Kernels report a divisor of 0 and an index out of range: they stay.
// CHECK-LABEL: func.func @refused
// CHECK:         func.call @quotient
// CHECK:         func.call @chosen
func.func @refused(%x: !n, %s: tensor<2xi64>, %at: tensor<1xi64>) -> (tensor<1xi64>, tensor<1xi64>) {
  %a = func.call @quotient(%s) : (tensor<2xi64>) -> tensor<1xi64>
  %b = func.call @chosen(%s, %at) : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
  func.return %a, %b : tensor<1xi64>, tensor<1xi64>
}

func.func private @quotient(%s: tensor<2xi64>) -> tensor<1xi64> attributes {relay.primitive} {
  %r = topi.compute "quotient" [%i : 1] : tensor<1xi64> {
    %0 = topi.read %s[0] : tensor<2xi64>
    %1 = topi.read %s[1] : tensor<2xi64>
    %2 = arith.divsi %0, %1 : i64
    topi.yield %2 : i64
  }
  func.return %r : tensor<1xi64>
}

func.func private @chosen(%s: tensor<2xi64>, %at: tensor<1xi64>) -> tensor<1xi64> attributes {relay.primitive} {
  %r = topi.compute "chosen" [%i : 1] : tensor<1xi64> {
    %0 = topi.read %at[0] : tensor<1xi64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = topi.checked_index %1 of 2
    %3 = topi.read %s[%2] : tensor<2xi64>
    topi.yield %3 : i64
  }
  func.return %r : tensor<1xi64>
}

// -----

// Without named extents all kernels stay.
// CHECK-LABEL: func.func @static
// CHECK:         func.call @more
func.func @static(%s: tensor<2xi64>) -> tensor<2xi64> {
  %a = func.call @more(%s) : (tensor<2xi64>) -> tensor<2xi64>
  func.return %a : tensor<2xi64>
}

func.func private @more(%s: tensor<2xi64>) -> tensor<2xi64> attributes {relay.primitive} {
  %r = topi.compute "more" [%i : 2] : tensor<2xi64> {
    %0 = topi.read %s[%i] : tensor<2xi64>
    %1 = arith.addi %0, %0 : i64
    topi.yield %1 : i64
  }
  func.return %r : tensor<2xi64>
}

// -----

!n = tensor<?xf32, #relay.dims<n>>
!x = tensor<4xf32>

// A trip count that scalar code computes is not loaded.
// CHECK-LABEL: func.func @count(%n_source: memref<?xf32>
// CHECK:         %[[LONG:.*]] = arith.index_cast %n : index to i64
// CHECK:         %[[TIMES:.*]] = arith.index_cast %[[LONG]] : i64 to index
// CHECK:         scf.while
// CHECK-NEXT:      arith.cmpi slt, %{{.*}}, %[[TIMES]] : index
func.func @count(%n_source: !n, %x: !x) -> !x {
  %i = func.call @size(%n_source) : (!n) -> tensor<i64>
  %r = relay.loop(%k, %c = %x : !x) to %i : tensor<i64> -> tuple<!x> {
    %m = func.call @negate(%c) : (!x) -> !x
    %t = relay.tuple(%m) : (!x) -> tuple<!x>
    relay.yield %t : tuple<!x>
  }
  %l = relay.tuple_get_item(%r) {index = 0} : (tuple<!x>) -> !x
  func.return %l : !x
}

func.func private @size(%x: !n) -> tensor<i64> attributes {relay.primitive} {
  %r = topi.compute "size" [] : tensor<i64> {
    %0 = topi.index [n]
    %1 = arith.index_cast %0 : index to i64
    topi.yield %1 : i64
  }
  func.return %r : tensor<i64>
}

func.func private @negate(%x: !x) -> !x attributes {relay.primitive} {
  %r = topi.compute "negate" [%i : 4] : !x {
    %0 = topi.read %x[%i] : !x
    %1 = arith.negf %0 : f32
    topi.yield %1 : f32
  }
  func.return %r : !x
}
