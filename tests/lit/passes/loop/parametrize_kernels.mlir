// RUN: xrelay-opt %s -p loop-parametrize-kernels | filecheck %s
// RUN: xrelay-opt %s -p 'loop-parametrize-kernels{least=2}' | filecheck %s --check-prefix LEAST
// RUN: xrelay-opt %s -p loop-parametrize-kernels,loop-apply-schedules,loop-lower-blocks | filecheck %s --check-prefix LOWERED

// CHECK-LABEL: func.func @main
// CHECK:         %[[x:[0-9]+]] = "memref.cast"(%x) : (memref<?x2xf32>) -> memref<?x?xf32>
// CHECK-NEXT:    %[[w:[0-9]+]] = "memref.cast"(%w) : (memref<2xf32>) -> memref<?xf32>
// CHECK-NEXT:    %[[two:[0-9]+]] = arith.constant 2 : index
// CHECK-NEXT:    func.call @sums(%[[x]], %[[w]], %r, %n, %[[two]])
// CHECK:         %[[six:[0-9]+]] = arith.constant 6 : index
// CHECK-NEXT:    func.call @sums(%{{[0-9]+}}, %{{[0-9]+}}, %r, %m, %[[six]])
// CHECK:         %[[four:[0-9]+]] = arith.constant 4 : index
// CHECK-NEXT:    func.call @double(%{{[0-9]+}}, %{{[0-9]+}}, %n, %[[four]])
func.func @main(%x: memref<?x2xf32>, %y: memref<?x6xf32>, %w: memref<2xf32>, %v: memref<6xf32>, %r: memref<?xf32>,
                %a: memref<?x4xf32>, %b: memref<?x6xf32>, %c: memref<?x5xf32>, %n: index, %m: index) {
  func.call @sums(%x, %w, %r, %n) : (memref<?x2xf32>, memref<2xf32>, memref<?xf32>, index) -> ()
  func.call @sums_1(%y, %v, %r, %m) : (memref<?x6xf32>, memref<6xf32>, memref<?xf32>, index) -> ()
  func.call @double(%a, %a, %n) : (memref<?x4xf32>, memref<?x4xf32>, index) -> ()
  func.call @double_1(%b, %b, %n) : (memref<?x6xf32>, memref<?x6xf32>, index) -> ()
  func.call @double_2(%c, %c, %n) : (memref<?x5xf32>, memref<?x5xf32>, index) -> ()
  func.return
}

// The sums have 2 and 6 terms, and equal schedules, which keep the loop of the terms rolled.
// CHECK-LABEL: func.func private @sums(
// CHECK-SAME:    %X: memref<?x?xf32> {loop.extents = array<i64: 0, 1>}, %W: memref<?xf32> {loop.extents = array<i64: 1>}
// CHECK-SAME:    %n: index, %size0: index)
// CHECK-SAME:    xrelay.sources = ["a", "b"]
// CHECK:           loop.for "k" %k to %size0 {
// CHECK-NEXT:        loop.block "sum" (%vi : spatial %n = %i, %vk : reduce %size0 = %k)
// CHECK-NOT:   @sums_1
func.func private @sums(%X: memref<?x2xf32> {loop.extents = array<i64: 0>}, %W: memref<2xf32>,
                        %Y: memref<?xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[disable_unroll("k")]>,
                loop.dims = #relay.dims<n>, xrelay.sources = ["a"]} {
  loop.for "i" %i to %n {
    loop.for "k" %k to 2 {
      loop.block "sum" (%vi : spatial %n = %i, %vk : reduce 2 = %k) reads(%X, %W) writes(%Y) init {
        %zero = arith.constant 0.0 : f32
        loop.store %zero, %Y[%vi] : memref<?xf32>
      } {
        %x = loop.load %X[%vi, %vk] : memref<?x2xf32>
        %w = loop.load %W[%vk] : memref<2xf32>
        %y = loop.load %Y[%vi] : memref<?xf32>
        %p = arith.mulf %x, %w : f32
        %s = arith.addf %y, %p : f32
        loop.store %s, %Y[%vi] : memref<?xf32>
      }
    }
  }
  func.return
}
func.func private @sums_1(%X: memref<?x6xf32> {loop.extents = array<i64: 0>}, %W: memref<6xf32>,
                          %Y: memref<?xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[disable_unroll("k")]>,
                loop.dims = #relay.dims<m>, xrelay.sources = ["b"]} {
  loop.for "i" %i to %n {
    loop.for "k" %k to 6 {
      loop.block "sum" (%vi : spatial %n = %i, %vk : reduce 6 = %k) reads(%X, %W) writes(%Y) init {
        %zero = arith.constant 0.0 : f32
        loop.store %zero, %Y[%vi] : memref<?xf32>
      } {
        %x = loop.load %X[%vi, %vk] : memref<?x6xf32>
        %w = loop.load %W[%vk] : memref<6xf32>
        %y = loop.load %Y[%vi] : memref<?xf32>
        %p = arith.mulf %x, %w : f32
        %s = arith.addf %y, %p : f32
        loop.store %s, %Y[%vi] : memref<?xf32>
      }
    }
  }
  func.return
}

// The argument is rounded down to a multiple of the factor, so that no tile is partial. 5 columns have a partial tile.
// CHECK-LABEL: func.func private @double(
// CHECK-SAME:    %size0: index)
// CHECK:         %multiple = arith.muli
// CHECK:         loop.for "j" %j to %multiple
// CHECK-NOT:   @double_1
// CHECK:       func.func private @double_2
// LOWERED-LABEL: func.func private @double(
// LOWERED-NOT:     scf.if
// LOWERED:         loop.for "j_i"
// LOWERED-NOT:     scf.if
// LOWERED:       func.func private @double_2
func.func private @double(%X: memref<?x4xf32> {loop.extents = array<i64: 0>},
                          %Y: memref<?x4xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[split("j", 2), unroll("j_i")]>} {
  loop.for "i" %i to %n {
    loop.for "j" %j to 4 {
      loop.block "b" (%vi : spatial %n = %i, %vj : spatial 4 = %j) reads(%X) writes(%Y) {
        %x = loop.load %X[%vi, %vj] : memref<?x4xf32>
        %d = arith.addf %x, %x : f32
        loop.store %d, %Y[%vi, %vj] : memref<?x4xf32>
      }
    }
  }
  func.return
}
func.func private @double_1(%X: memref<?x6xf32> {loop.extents = array<i64: 0>},
                            %Y: memref<?x6xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[split("j", 2), unroll("j_i")]>} {
  loop.for "i" %i to %n {
    loop.for "j" %j to 6 {
      loop.block "b" (%vi : spatial %n = %i, %vj : spatial 6 = %j) reads(%X) writes(%Y) {
        %x = loop.load %X[%vi, %vj] : memref<?x6xf32>
        %d = arith.addf %x, %x : f32
        loop.store %d, %Y[%vi, %vj] : memref<?x6xf32>
      }
    }
  }
  func.return
}
func.func private @double_2(%X: memref<?x5xf32> {loop.extents = array<i64: 0>},
                            %Y: memref<?x5xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[split("j", 2), unroll("j_i")]>} {
  loop.for "i" %i to %n {
    loop.for "j" %j to 5 {
      loop.block "b" (%vi : spatial %n = %i, %vj : spatial 5 = %j) reads(%X) writes(%Y) {
        %x = loop.load %X[%vi, %vj] : memref<?x5xf32>
        %d = arith.addf %x, %x : f32
        loop.store %d, %Y[%vi, %vj] : memref<?x5xf32>
      }
    }
  }
  func.return
}

// Unchanged: loops whose iterations are lanes, sums that LLVM may unroll, fewer than four kernels without dynamic
// extents, and kernels that other modules may call.
// CHECK: func.func private @lanes(
// CHECK: func.func private @lanes_1(
// CHECK: func.func private @fixed(
// CHECK: func.func private @fixed_1(
// CHECK: func.func @public(
// CHECK: func.func @public_1(
func.func private @lanes(%X: memref<?x4xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[vectorize("j")]>} {
  loop.for "i" %i to %n {
    loop.for "j" %j to 4 {
      loop.block "b" (%vi : spatial %n = %i, %vj : spatial 4 = %j) writes(%X) {
        %zero = arith.constant 0.0 : f32
        loop.store %zero, %X[%vi, %vj] : memref<?x4xf32>
      }
    }
  }
  func.return
}
func.func private @lanes_1(%X: memref<?x8xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[vectorize("j")]>} {
  loop.for "i" %i to %n {
    loop.for "j" %j to 8 {
      loop.block "b" (%vi : spatial %n = %i, %vj : spatial 8 = %j) writes(%X) {
        %zero = arith.constant 0.0 : f32
        loop.store %zero, %X[%vi, %vj] : memref<?x8xf32>
      }
    }
  }
  func.return
}
// LEAST-LABEL: func.func private @fixed(
// LEAST-SAME:    %X: memref<?x16xf32> {loop.extents = array<i64: 0>}
// LEAST-SAME:    %size0: index)
// LEAST:         loop.for "i" %i to %size0 {
// LEAST-NEXT:      loop.for "j" %j to 16 {
// LEAST-NOT:   @fixed_1
func.func private @fixed(%X: memref<4x16xf32>, %Y: memref<4x16xf32>)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[vectorize("j")]>} {
  loop.for "i" %i to 4 {
    loop.for "j" %j to 16 {
      loop.block "b" (%vi : spatial 4 = %i, %vj : spatial 16 = %j) reads(%X) writes(%Y) {
        %x = loop.load %X[%vi, %vj] : memref<4x16xf32>
        loop.store %x, %Y[%vi, %vj] : memref<4x16xf32>
      }
    }
  }
  func.return
}
func.func private @fixed_1(%X: memref<5x16xf32>, %Y: memref<5x16xf32>)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[vectorize("j")]>} {
  loop.for "i" %i to 5 {
    loop.for "j" %j to 16 {
      loop.block "b" (%vi : spatial 5 = %i, %vj : spatial 16 = %j) reads(%X) writes(%Y) {
        %x = loop.load %X[%vi, %vj] : memref<5x16xf32>
        loop.store %x, %Y[%vi, %vj] : memref<5x16xf32>
      }
    }
  }
  func.return
}
func.func @public(%X: memref<?x4xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[]>} {
  func.return
}
func.func @public_1(%X: memref<?x5xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.schedule = #loop.schedule<[]>} {
  func.return
}
