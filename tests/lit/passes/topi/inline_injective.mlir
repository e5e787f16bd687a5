// RUN: xrelay-opt %s -p topi-inline-injective | filecheck %s
// RUN: xrelay-opt %s -p 'topi-inline-injective{max-recompute=0}' | filecheck %s --check-prefix NEVER

// Index expressions are composed; the body is evaluated at them.
// CHECK-LABEL: func.func @chain
// CHECK-NOT: "scale"
// CHECK: topi.compute "relu" [%j : 4]
// CHECK-NEXT: %a = topi.read %x[%j * 2 + 1] : tensor<8xf32>
// CHECK-NEXT: %two = arith.constant
// CHECK-NEXT: %s = arith.mulf %a, %two : f32
// CHECK: arith.maximumf %s
func.func @chain(%x: tensor<8xf32>) -> tensor<4xf32> {
  %a = topi.compute "scale" [%i : 8] : tensor<8xf32> {
    %a = topi.read %x[%i] : tensor<8xf32>
    %two = arith.constant 2.0 : f32
    %s = arith.mulf %a, %two : f32
    topi.yield %s : f32
  }
  %b = topi.compute "relu" [%j : 4] : tensor<4xf32> {
    %v = topi.read %a[%j * 2 + 1] : tensor<8xf32>
    %zero = arith.constant 0.0 : f32
    %m = arith.maximumf %v, %zero : f32
    topi.yield %m : f32
  }
  func.return %b : tensor<4xf32>
}

// Splitting and joining channels yields the plain index.
// CHECK-LABEL: func.func @layouts
// CHECK: topi.compute "join" [%c : 32, %h : 3]
// CHECK-NEXT: topi.read %x[%c, %h] : tensor<32x3xf32>
// CHECK-NEXT: topi.yield
func.func @layouts(%x: tensor<32x3xf32>) -> tensor<32x3xf32> {
  %a = topi.compute "split" [%co : 2, %h : 3, %ci : 16] : tensor<2x3x16xf32> {
    %v = topi.read %x[%co * 16 + %ci, %h] : tensor<32x3xf32>
    topi.yield %v : f32
  }
  %b = topi.compute "join" [%c : 32, %h : 3] : tensor<32x3xf32> {
    %v = topi.read %a[%c floordiv 16, %h, %c mod 16] : tensor<2x3x16xf32>
    topi.yield %v : f32
  }
  func.return %b : tensor<32x3xf32>
}

// The body moves into the guard, which evaluates it only for taps inside of the image.
// CHECK-LABEL: func.func @into_guard
// CHECK: topi.compute "pad"
// CHECK-NEXT: topi.in_bounds
// CHECK-NEXT: topi.guard
// CHECK-NEXT: topi.read %x[%i - 1] : tensor<4xf32>
// CHECK-NEXT: arith.negf
// CHECK-NEXT: topi.yield
func.func @into_guard(%x: tensor<4xf32>) -> tensor<6xf32> {
  %a = topi.compute "neg" [%i : 4] : tensor<4xf32> {
    %v = topi.read %x[%i] : tensor<4xf32>
    %n = arith.negf %v : f32
    topi.yield %n : f32
  }
  %b = topi.compute "pad" [%i : 6] : tensor<6xf32> {
    %in = topi.in_bounds [%i - 1] of [4]
    %v = topi.guard (%in) -> f32 {
      %w = topi.read %a[%i - 1] : tensor<4xf32>
      topi.yield %w : f32
    } else {
      %zero = arith.constant 0.0 : f32
      topi.yield %zero : f32
    }
    topi.yield %v : f32
  }
  func.return %b : tensor<6xf32>
}

// Equal reads are merged: the square of an exponential evaluates it once.
// CHECK-LABEL: func.func @equal_reads
// CHECK: topi.compute "square"
// CHECK: math.exp
// CHECK-NOT: math.exp
// CHECK: func.return
func.func @equal_reads(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = topi.compute "exp" [%i : 4] : tensor<4xf32> {
    %v = topi.read %x[%i] : tensor<4xf32>
    %e = math.exp %v : f32
    topi.yield %e : f32
  }
  %b = topi.compute "square" [%i : 4] : tensor<4xf32> {
    %v = topi.read %a[%i] : tensor<4xf32>
    %w = topi.read %a[%i] : tensor<4xf32>
    %m = arith.mulf %v, %w : f32
    topi.yield %m : f32
  }
  func.return %b : tensor<4xf32>
}

// An index that the body uses as a value becomes a `topi.index`.
// CHECK-LABEL: func.func @index_values
// CHECK: topi.compute "reverse"
// CHECK-NEXT: %[[I:.*]] = topi.index [%i * -1 + 3]
// CHECK-NEXT: arith.index_cast %[[I]]
func.func @index_values() -> tensor<4xi64> {
  %a = topi.compute "iota" [%i : 4] : tensor<4xi64> {
    %v = arith.index_cast %i : index to i64
    topi.yield %v : i64
  }
  %b = topi.compute "reverse" [%i : 4] : tensor<4xi64> {
    %v = topi.read %a[%i * -1 + 3] : tensor<4xi64>
    topi.yield %v : i64
  }
  func.return %b : tensor<4xi64>
}

// Rejected: a result of the function, the operand of a named op, a reduction.
// CHECK-LABEL: func.func @needed
// CHECK: topi.compute "result"
// CHECK: topi.compute "operand"
// CHECK: topi.softmax
// CHECK: topi.compute "sum"
// CHECK: topi.compute "last"
func.func @needed(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = topi.compute "result" [%i : 4] : tensor<4xf32> {
    %v = topi.read %x[%i] : tensor<4xf32>
    topi.yield %v : f32
  }
  %b = topi.compute "operand" [%i : 4] : tensor<4xf32> {
    %v = topi.read %a[%i] : tensor<4xf32>
    topi.yield %v : f32
  }
  %s = topi.softmax(%b) {axis = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %t = topi.compute "sum" [] reduce [%k : 4] init [%acc = 0.0 : f32] : tensor<f32> {
    %v = topi.read %x[%k] : tensor<4xf32>
    %w = arith.addf %acc, %v : f32
    topi.yield %w : f32
  }
  %c = topi.compute "last" [%i : 4] : tensor<4xf32> {
    %v = topi.read %t[] : tensor<f32>
    topi.yield %v : f32
  }
  func.return %a, %s, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Recomputation has a cost: a relu in a small window is inlined, an exponential for two readers is not.
// CHECK-LABEL: func.func @cost
// CHECK-NOT: "cheap"
// CHECK: topi.compute "costly"
// CHECK: topi.compute "window"
// CHECK: arith.negf
// NEVER-LABEL: func.func @cost
// NEVER: topi.compute "cheap"
// NEVER: topi.compute "costly"
func.func @cost(%x: tensor<8xf32>) -> (tensor<7xf32>, tensor<8xf32>, tensor<f32>) {
  %cheap = topi.compute "cheap" [%i : 8] : tensor<8xf32> {
    %v = topi.read %x[%i] : tensor<8xf32>
    %n = arith.negf %v : f32
    topi.yield %n : f32
  }
  %costly = topi.compute "costly" [%i : 8] : tensor<8xf32> {
    %v = topi.read %x[%i] : tensor<8xf32>
    %n = math.exp %v : f32
    topi.yield %n : f32
  }
  %w = topi.compute "window" [%i : 7] reduce [%k : 2] init [%acc = 0.0 : f32] : tensor<7xf32> {
    %v = topi.read %cheap[%i + %k] : tensor<8xf32>
    %s = arith.addf %acc, %v : f32
    topi.yield %s : f32
  }
  %d = topi.compute "double" [%i : 8] : tensor<8xf32> {
    %v = topi.read %costly[%i] : tensor<8xf32>
    %s = arith.addf %v, %v : f32
    topi.yield %s : f32
  }
  %t = topi.compute "sum" [] reduce [%k : 8] init [%acc = 0.0 : f32] : tensor<f32> {
    %v = topi.read %costly[%k] : tensor<8xf32>
    %s = arith.addf %acc, %v : f32
    topi.yield %s : f32
  }
  func.return %w, %d, %t : tensor<7xf32>, tensor<8xf32>, tensor<f32>
}

// A check is inlined if some reader performs it for every element, and not if elements may be skipped.
// CHECK-LABEL: func.func @checks
// CHECK: topi.compute "part"
// CHECK-NOT: topi.compute "whole"
// CHECK: topi.compute "half"
func.func @checks(%at: tensor<8xindex>, %x: tensor<9xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %whole = topi.compute "whole" [%i : 8] : tensor<8xindex> {
    %a = topi.read %at[%i] : tensor<8xindex>
    %k = topi.checked_index %a of 9
    topi.yield %k : index
  }
  %part = topi.compute "part" [%i : 8] : tensor<8xindex> {
    %a = topi.read %at[%i] : tensor<8xindex>
    %k = topi.checked_index %a of 9
    topi.yield %k : index
  }
  %t = topi.compute "take" [%i : 8] : tensor<8xf32> {
    %k = topi.read %whole[%i] : tensor<8xindex>
    %v = topi.read %x[%k] : tensor<9xf32>
    topi.yield %v : f32
  }
  %h = topi.compute "half" [%i : 4] : tensor<4xf32> {
    %k = topi.read %part[%i * 2] : tensor<8xindex>
    %v = topi.read %x[%k] : tensor<9xf32>
    topi.yield %v : f32
  }
  func.return %t, %h : tensor<8xf32>, tensor<4xf32>
}

// Named dimensions: the splits and joins of reshapes cancel, since indices are below their extents.
// CHECK-LABEL: @named
func.func private @named(%x: tensor<?x?xf32, #relay.dims<n, m>>) -> tensor<?x?xf32, #relay.dims<n, m>> {
  %f = topi.compute "flatten" [%i : n * m] : tensor<?xf32, #relay.dims<n * m>> {
    %a = topi.read %x[%i floordiv m, %i mod m] : tensor<?x?xf32, #relay.dims<n, m>>
    topi.yield %a : f32
  }
  // CHECK-NEXT: topi.compute "unflatten" [%i : n, %j : m]
  // CHECK-NEXT: topi.read %x[%i, %j]
  %r = topi.compute "unflatten" [%i : n, %j : m] : tensor<?x?xf32, #relay.dims<n, m>> {
    %a = topi.read %f[%i * m + %j] : tensor<?xf32, #relay.dims<n * m>>
    topi.yield %a : f32
  }
  func.return %r : tensor<?x?xf32, #relay.dims<n, m>>
}

// A check stays in memory if a reader may have no points: n may be 0.
// CHECK-LABEL: @check_may_be_left_out
func.func private @check_may_be_left_out(%at: tensor<?xindex, #relay.dims<m>>) -> tensor<?x?xindex, #relay.dims<n, m>> {
  // CHECK-NEXT: topi.compute "indices"
  %k = topi.compute "indices" [%j : m] : tensor<?xindex, #relay.dims<m>> {
    %a = topi.read %at[%j] : tensor<?xindex, #relay.dims<m>>
    %c = topi.checked_index %a of 9
    topi.yield %c : index
  }
  // CHECK: topi.compute "copies"
  %r = topi.compute "copies" [%i : n, %j : m] : tensor<?x?xindex, #relay.dims<n, m>> {
    %a = topi.read %k[%j] : tensor<?xindex, #relay.dims<m>>
    topi.yield %a : index
  }
  func.return %r : tensor<?x?xindex, #relay.dims<n, m>>
}

// CHECK-LABEL: @check_is_made
func.func private @check_is_made(%at: tensor<?xindex, #relay.dims<m>>) -> tensor<?xindex, #relay.dims<m>> {
  %k = topi.compute "indices" [%j : m] : tensor<?xindex, #relay.dims<m>> {
    %a = topi.read %at[%j] : tensor<?xindex, #relay.dims<m>>
    %c = topi.checked_index %a of 9
    topi.yield %c : index
  }
  // CHECK-NEXT: topi.compute "copy"
  // CHECK: topi.checked_index
  %r = topi.compute "copy" [%j : m] : tensor<?xindex, #relay.dims<m>> {
    %a = topi.read %k[%j] : tensor<?xindex, #relay.dims<m>>
    topi.yield %a : index
  }
  func.return %r : tensor<?xindex, #relay.dims<m>>
}

// An index into the only element of an axis is checked at the point where its value is no longer needed.
// CHECK-LABEL: @check_of_one_element
func.func private @check_of_one_element(%at: tensor<4xindex>, %x: tensor<1xf32>) -> tensor<4xf32> {
  %n = topi.compute "negative" [%i : 1] : tensor<1xf32> {
    %a = topi.read %x[0] : tensor<1xf32>
    %b = arith.negf %a : f32
    topi.yield %b : f32
  }
  // CHECK: topi.compute "take"
  // CHECK: topi.checked_index %{{.*}} of 1
  // CHECK: topi.read %x[0]
  %r = topi.compute "take" [%j : 4] : tensor<4xf32> {
    %a = topi.read %at[%j] : tensor<4xindex>
    %c = topi.checked_index %a of 1
    %v = topi.read %n[%c] : tensor<1xf32>
    topi.yield %v : f32
  }
  func.return %r : tensor<4xf32>
}

// A gather along the last axis is not computed eight times; a gather of whole rows is free.
// CHECK-LABEL: @gathered_lanes
func.func private @gathered_lanes(%at: tensor<8xindex>, %x: tensor<4x4xf32>) -> tensor<32x8xf32> {
  // CHECK-NEXT: topi.compute "columns" [%i : 4, %j : 8]
  %c = topi.compute "columns" [%i : 4, %j : 8] : tensor<4x8xf32> {
    %a = topi.read %at[%j] : tensor<8xindex>
    %v = topi.read %x[%i, %a] : tensor<4x4xf32>
    topi.yield %v : f32
  }
  // CHECK-NOT: topi.compute "rows"
  %r = topi.compute "rows" [%i : 4, %j : 8] : tensor<4x8xf32> {
    %a = topi.read %at[%i] : tensor<8xindex>
    %v = topi.read %c[%a, %j] : tensor<4x8xf32>
    topi.yield %v : f32
  }
  %y = topi.compute "repeat" [%i : 32, %j : 8] : tensor<32x8xf32> {
    %v = topi.read %r[%i floordiv 8, %j] : tensor<4x8xf32>
    topi.yield %v : f32
  }
  func.return %y : tensor<32x8xf32>
}

// A mask of scores is added once, where the scores are computed: the maximum and the exponentials read it. Without a
// second reader it is inlined.
// CHECK-LABEL: func.func @scores
// CHECK: topi.compute "scores"
// CHECK-NEXT: topi.read %x
// CHECK: topi.compute "mask"
// CHECK: topi.compute "others"
// CHECK-NOT: topi.compute "single"
func.func @scores(%x: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>, tensor<4xf32>) {
  %s = topi.compute "scores" [%i : 4, %j : 4] reduce [%k : 4] init [%acc = 0.0 : f32] : tensor<4x4xf32> attributes {topi.expanded_from = "topi.batch_matmul"} {
    %v = topi.read %x[%i, %k] : tensor<4x4xf32>
    %t = arith.addf %acc, %v : f32
    topi.yield %t : f32
  }
  %m = topi.compute "mask" [%i : 4, %j : 4] : tensor<4x4xf32> {
    %v = topi.read %s[%i, %j] : tensor<4x4xf32>
    %n = arith.negf %v : f32
    topi.yield %n : f32
  }
  %p = topi.compute "peak" [%i : 4] reduce [%k : 4] init [%acc = 0.0 : f32] : tensor<4xf32> {
    %v = topi.read %m[%i, %k] : tensor<4x4xf32>
    %t = arith.maximumf %acc, %v : f32
    topi.yield %t : f32
  }
  %e = topi.compute "exp" [%i : 4, %j : 4] : tensor<4x4xf32> {
    %v = topi.read %m[%i, %j] : tensor<4x4xf32>
    %n = math.exp %v : f32
    topi.yield %n : f32
  }
  %o = topi.compute "others" [%i : 4, %j : 4] reduce [%k : 4] init [%acc = 0.0 : f32] : tensor<4x4xf32> attributes {topi.expanded_from = "topi.batch_matmul"} {
    %v = topi.read %x[%k, %j] : tensor<4x4xf32>
    %t = arith.addf %acc, %v : f32
    topi.yield %t : f32
  }
  %n = topi.compute "single" [%i : 4, %j : 4] : tensor<4x4xf32> {
    %v = topi.read %o[%i, %j] : tensor<4x4xf32>
    %n = arith.negf %v : f32
    topi.yield %n : f32
  }
  %q = topi.compute "sum" [%i : 4] reduce [%k : 4] init [%acc = 0.0 : f32] : tensor<4xf32> {
    %v = topi.read %n[%i, %k] : tensor<4x4xf32>
    %t = arith.addf %acc, %v : f32
    topi.yield %t : f32
  }
  func.return %p, %e, %q : tensor<4xf32>, tensor<4x4xf32>, tensor<4xf32>
}

// A compute that its expansion keeps in memory stays.
// CHECK-LABEL: func.func @materialized
// CHECK: topi.compute "scale"
// CHECK: topi.compute "relu"
func.func @materialized(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = topi.compute "scale" [%i : 8] : tensor<8xf32> attributes {topi.materialized} {
    %v = topi.read %x[%i] : tensor<8xf32>
    %s = arith.addf %v, %v : f32
    topi.yield %s : f32
  }
  %b = topi.compute "relu" [%i : 8] : tensor<8xf32> {
    %v = topi.read %a[%i] : tensor<8xf32>
    %zero = arith.constant 0.0 : f32
    %m = arith.maximumf %v, %zero : f32
    topi.yield %m : f32
  }
  func.return %b : tensor<8xf32>
}

// A compute that nothing reads is erased, with the ops that only it uses; an unused check of an index stays.
// CHECK-LABEL: func.func @unused
// CHECK-NEXT: %[[r:.*]] = topi.compute "copy"
// CHECK-NEXT: topi.read
// CHECK-NEXT: topi.checked_index
// CHECK-NEXT: topi.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return %[[r]]
func.func @unused(%x: tensor<8xf32>, %k: tensor<8xindex>) -> tensor<8xindex> {
  %a = topi.compute "scale" [%i : 8] : tensor<8xf32> {
    %v = topi.read %x[%i] : tensor<8xf32>
    %s = arith.addf %v, %v : f32
    topi.yield %s : f32
  }
  %b = topi.compute "relu" [%i : 8] : tensor<8xf32> {
    %v = topi.read %a[%i] : tensor<8xf32>
    topi.yield %v : f32
  }
  %r = topi.compute "copy" [%i : 8] : tensor<8xindex> {
    %v = topi.read %k[%i] : tensor<8xindex>
    %w = topi.read %x[%i] : tensor<8xf32>
    %c = topi.checked_index %v of 8
    topi.yield %v : index
  }
  func.return %r : tensor<8xindex>
}
