// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @negative_extent() {
  // expected-error@below {{[loop.for C2] loop 'i' has a negative extent: -1}}
  loop.for "i" %i to -1 {
  }
  func.return
}

// -----

func.func @same_name() {
  // expected-error@below {{[loop.for C4] @same_name has two loops with the name 'i'}}
  loop.for "i" %i to 2 {
  }
  loop.for "i" %j to 2 {
  }
  func.return
}

// -----

func.func @empty_domain(%Y: memref<4xf32>) {
  loop.for "i" %i to 4 {
    // expected-error@below {{[loop.block C2] a variable of block 'b' has extent 0}}
    loop.block "b" (%v : spatial 0 = %i) writes(%Y) {
      %z = arith.constant 0.0 : f32
      loop.store %z, %Y[%v] : memref<4xf32>
    }
  }
  func.return
}

// -----

func.func @foreign_binding(%Y: memref<4xf32>, %n: index) {
  // expected-error@below {{[loop.block C4] a binding of block 'b' uses a value that no enclosing loop runs over}}
  loop.block "b" (%v : spatial 4 = %n) writes(%Y) {
    %z = arith.constant 0.0 : f32
    loop.store %z, %Y[%v] : memref<4xf32>
  }
  func.return
}

// -----

func.func @unlisted_write(%Y: memref<4xf32>) {
  loop.for "i" %i to 4 {
    // expected-error@below {{[loop.block C5]}}
    loop.block "b" (%v : spatial 4 = %i) {
      %z = arith.constant 0.0 : f32
      loop.store %z, %Y[%v] : memref<4xf32>
    }
  }
  func.return
}

// -----

func.func @unlisted_read(%X: memref<4xf32>, %Y: memref<4xf32>) {
  loop.for "i" %i to 4 {
    // expected-error@below {{[loop.block C6] block 'b' loads from a buffer that reads() does not list}}
    loop.block "b" (%v : spatial 4 = %i) writes(%Y) {
      %x = loop.load %X[%v] : memref<4xf32>
      loop.store %x, %Y[%v] : memref<4xf32>
    }
  }
  func.return
}

// -----

func.func @init_without_reduction(%Y: memref<4xf32>) {
  loop.for "i" %i to 4 {
    // expected-error@below {{[loop.block C7] block 'b' has an init but no reduce or ordered variable}}
    loop.block "b" (%v : spatial 4 = %i) writes(%Y) init {
    } {
      %z = arith.constant 0.0 : f32
      loop.store %z, %Y[%v] : memref<4xf32>
    }
  }
  func.return
}

// -----

func.func @store_at_reduction(%Y: memref<4xf32>) {
  loop.for "i" %i to 4 {
    // expected-error@below {{[loop.block C8] a store of block 'b' depends on a reduce variable}}
    loop.block "b" (%v : reduce 4 = %i) writes(%Y) {
      %z = arith.constant 0.0 : f32
      loop.store %z, %Y[%v] : memref<4xf32>
    }
  }
  func.return
}

// -----

func.func @computes_with_loop_index(%Y: memref<4xindex>) {
  loop.for "i" %i to 4 {
    // expected-error@below {{[loop.block C9] 'arith.addi' in block 'b' computes with the index of loop 'i'; use a block variable}}
    loop.block "b" (%v : spatial 4 = %i) writes(%Y) {
      %z = arith.addi %i, %i : index
      loop.store %z, %Y[%v] : memref<4xindex>
    }
  }
  func.return
}

// -----

func.func @nested_block(%Y: memref<4xf32>) {
  loop.for "i" %i to 4 {
    // expected-error@below {{[loop.block C10] block 'b' contains a 'loop.for'}}
    loop.block "b" (%v : spatial 4 = %i) {
      loop.for "j" %j to 4 {
      }
    }
  }
  func.return
}

// -----

func.func @rank(%X: memref<4x4xf32>, %i: index) {
  // expected-error@below {{[loop.load C1] 1 indices for a buffer of rank 2}}
  %x = loop.load %X[%i] : memref<4x4xf32>
  func.return
}

// -----

func.func @symbols(%X: memref<4xf32>, %i: index) {
  // expected-error@below {{[loop.load C2] a map over 0 dimensions has 1 operands}}
  %x = "loop.load"(%X, %i) <{map = affine_map<()[s0] -> (s0)>}> : (memref<4xf32>, index) -> f32
  func.return
}

// -----

func.func @out_of_bounds(%X: memref<4xf32>, %Y: memref<4xf32>) {
  loop.for "i" %i to 4 {
    loop.block "b" (%v : spatial 4 = %i) reads(%X) writes(%Y) {
      // expected-error@below {{[loop.load C3] index 0 runs from 1 to 4, the buffer has 4 elements there}}
      %x = loop.load %X[%v + 1] : memref<4xf32>
      loop.store %x, %Y[%v] : memref<4xf32>
    }
  }
  func.return
}

// -----

func.func @store_rank(%X: memref<4x4xf32>, %i: index, %v: f32) {
  // expected-error@below {{[loop.store C1] 3 indices for a buffer of rank 2}}
  loop.store %v, %X[%i, %i, 0] : memref<4x4xf32>
  func.return
}

// -----

func.func @store_operands(%X: memref<4xf32>, %i: index, %v: f32) {
  // expected-error@below {{[loop.store C2] a map over 2 dimensions has 1 operands}}
  "loop.store"(%v, %X, %i) <{map = affine_map<(d0, d1) -> (d0)>}> : (f32, memref<4xf32>, index) -> ()
  func.return
}

// -----

func.func @out_of_bounds_below(%Y: memref<4xf32>, %v: f32) {
  loop.for "i" %i to 4 {
    // expected-error@below {{[loop.store C3] index 0 runs from -1 to 2, the buffer has 4 elements there}}
    loop.store %v, %Y[%i - 1] : memref<4xf32>
  }
  func.return
}

// -----

func.func @same_block_name(%Y: memref<4xf32>) {
  // expected-error@below {{[loop.for C4] @same_block_name has two blocks with the name 'b'}}
  loop.for "i" %i to 4 {
    loop.block "b" (%v : spatial 4 = %i) {
    }
    loop.block "b" (%v : spatial 4 = %i) {
    }
  }
  func.return
}

// -----

func.func @division_by_zero(%X: memref<4xf32>, %i: index) {
  // expected-error@below {{'floordiv' needs a positive divisor, got 0}}
  %x = loop.load %X[%i floordiv 0] : memref<4xf32>
  func.return
}

// -----

func.func @undefined_buffer() {
  // expected-error@below {{buffer %Y is used before its definition}}
  loop.block "b" () writes(%Y) {
  }
  func.return
}

// -----

func.func @no_extent() {
  // expected-error@below {{[loop.for C1] loop 'i' needs one extent: a number or a value}}
  "loop.for"() <{loop_name = "i", kind = #loop<kind serial>, tail = #loop<tail peel>}> ({
  ^bb0(%i: index):
  }) : () -> ()
  func.return
}

// -----

func.func @no_index() {
  // expected-error@below {{[loop.for C3] the body of loop 'i' needs one index argument, got 0}}
  "loop.for"() <{loop_name = "i", extent = 4 : index, kind = #loop<kind serial>, tail = #loop<tail peel>}> ({
  ^bb0():
  }) : () -> ()
  func.return
}

// -----

func.func @kinds_and_extents() {
  // expected-error@below {{[loop.block C1] 1 kinds, 2 extents and 0 bindings}}
  "loop.block"() <{block_name = "b", kinds = [#loop<iter spatial>], extents = array<i64: 4, 4>, bindings = affine_map<() -> ()>, operandSegmentSizes = array<i32: 0, 0, 0, 0>}> ({
  }, {
  ^bb0(%v: index):
  }) : () -> ()
  func.return
}

// -----

func.func @arguments() {
  // expected-error@below {{[loop.block C3] the body needs 1 index arguments, got 0}}
  "loop.block"() <{block_name = "b", kinds = [#loop<iter spatial>], extents = array<i64: 4>, bindings = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 0, 0, 0>}> ({
  }, {
  ^bb0():
  }) : () -> ()
  func.return
}

// -----

func.func @loaded_scalar_of_another_type(%X: memref<4xui8>, %i: index) {
  // expected-error@below {{[loop.load C4] a scalar of type ui8 for elements of type ui8, which are i8 scalars}}
  %v = "loop.load"(%X, %i) <{map = affine_map<(d0) -> (d0)>}> : (memref<4xui8>, index) -> ui8
  func.return
}

// -----

func.func @scalar_of_another_type(%X: memref<4xui8>, %v: ui8, %i: index) {
  // expected-error@below {{[loop.store C4] a scalar of type ui8 for elements of type ui8, which are i8 scalars}}
  "loop.store"(%v, %X, %i) {map = affine_map<(d0) -> (d0)>} : (ui8, memref<4xui8>, index) -> ()
  func.return
}

// -----

func.func @too_many_lanes() {
  // expected-error@below {{[loop.for C6] vectorized loop 'i' has 100000 iterations, at most 1024 are lanes}}
  loop.for "i" %i to 100000 vectorized {
  }
  func.return
}

// -----

func.func @too_many_copies() {
  loop.for "i" %i to 64 unrolled {
    loop.for "j" %j to 10 {
      // expected-error@below {{[loop.for C6] loop 'k' is unrolled to 4096 copies, 1024 are allowed}}
      loop.for "k" %k to 64 unrolled {
      }
    }
  }
  func.return
}

// -----

func.func @negative_size(%i: index) {
  // expected-error@below {{[loop.checked_index C1] size -1 is negative}}
  %k = loop.checked_index %i of -1
  func.return
}

// -----

func.func @not_apart(%at: memref<8xindex>, %Y: memref<8xf32>, %v: f32) {
  loop.for "i" %i to 8 {
    // expected-error@below {{[loop.block C11]}}
    loop.block "b" (%vi : spatial 8 = %i) reads(%at) writes(%Y) {
      %k = loop.load %at[%vi] : memref<8xindex>
      loop.store %v, %Y[%k] : memref<8xf32>
    }
  }
  func.return
}

// -----

func.func @reduced_places(%at: memref<8xindex>, %Y: memref<8xf32>, %v: f32) {
  loop.for "i" %i to 8 {
    // expected-error@below {{[loop.block C11]}}
    loop.block "b" (%vi : reduce 8 = %i) reads(%at) writes(%Y) {
      %k = loop.load %at[%vi] : memref<8xindex>
      loop.store %v, %Y[%k] : memref<8xf32>
    }
  }
  func.return
}

// -----

func.func @extent_without_value() {
  %n = arith.constant 4 : index
  // expected-error@below {{[loop.block C2] 2 extents of block 'b' are values, it has 1 extent operands}}
  "loop.block"(%n) <{block_name = "b", kinds = [#loop<iter spatial>, #loop<iter spatial>], extents = array<i64: -2, -2>, bindings = affine_map<() -> (0, 0)>, operandSegmentSizes = array<i32: 0, 0, 0, 1>}> ({
  }, {
  ^bb0(%v: index, %w: index):
  }) : (index) -> ()
  func.return
}

// -----

func.func @extent_of_a_loop() {
  loop.for "i" %i to 4 {
    %m = arith.addi %i, %i : index
    loop.for "j" %j to %m {
      // expected-error@below {{[loop.block C12]}}
      loop.block "b" (%v : spatial %m = %j) {
      }
    }
  }
  func.return
}

// -----

func.func @too_few(%X: memref<?x?xf32> {loop.extents = array<i64: 0>}, %n: index) {
  // expected-error@below {{[loop.for C7] loop.extents of argument 0 of @too_few has 1 entries, memref<?x?xf32> has 2}}
  loop.for "i" %i to %n {
  }
  func.return
}

// -----

func.func @no_such_argument(%X: memref<?xf32> {loop.extents = array<i64: 1>}, %n: index) {
  // expected-error@below {{[loop.for C7] loop.extents of argument 0 of @no_such_argument is [1], there are 1 index arguments}}
  loop.for "i" %i to %n {
  }
  func.return
}

// -----

func.func @no_buffer(%n: index {loop.extents = array<i64: 0>}) {
  // expected-error@below {{[loop.for C7]}}
  loop.for "i" %i to %n {
  }
  func.return
}

// -----

func.func @named_size(%i: index) {
  // expected-error@below {{[loop.checked_index C1] size n is not an integer}}
  %k = loop.checked_index %i of n
  func.return
}

// -----

func.func @rows_of_any_length(%X: memref<4x?xf32>, %V: memref<4x3xf32>, %I: memref<4x3xi64>, %a: memref<4x?xf32>,
                              %b: memref<4x?xi64>, %row: index) {
  // expected-error@below {{[loop.sort C2]}}
  loop.sort %X[%row] into %V, %I scratch %a, %b {axis = 1 : i64}
    : memref<4x?xf32>, memref<4x3xf32>, memref<4x3xi64>, memref<4x?xf32>, memref<4x?xi64>
  func.return
}

// -----

func.func private @rows_of_a_length_that_no_argument_is(%X: memref<?xf32> {loop.extents = array<i64: 2147483648>}, %V: memref<?xf32> {loop.extents = array<i64: -1>},
    %I: memref<?xi64>, %a: memref<?xf32>, %b: memref<?xi64>, %n: index) attributes {loop.kernel} {
  // expected-error@below {{[loop.sort C2]}}
  loop.sort %X[] into %V, %I scratch %a, %b {axis = 0 : i64}
    : memref<?xf32>, memref<?xf32>, memref<?xi64>, memref<?xf32>, memref<?xi64>
  func.return
}
