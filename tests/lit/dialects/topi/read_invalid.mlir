// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @map_of_another_size(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = topi.compute "c" [%i : 4] : tensor<4xf32> {
    // expected-error@below {{[topi.read C1]}}
    %v = "topi.read"(%x, %i) <{access = affine_map<(d0, d1) -> (d0)>}> : (tensor<4xf32>, index) -> f32
    topi.yield %v : f32
  }
  func.return %r : tensor<4xf32>
}

// -----

func.func @rank(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %r = topi.compute "c" [%i : 4] : tensor<4xf32> {
    // expected-error@below {{[topi.read C2] 1 index expressions for tensor<4x4xf32> of rank 2}}
    %v = topi.read %x[%i] : tensor<4x4xf32>
    topi.yield %v : f32
  }
  func.return %r : tensor<4xf32>
}

// -----

func.func @element(%x: tensor<4xf32>) -> tensor<4xf64> {
  %r = topi.compute "c" [%i : 4] : tensor<4xf64> {
    // expected-error@below {{[topi.read C3] result f64 differs from element type f32}}
    %v = "topi.read"(%x, %i) <{access = affine_map<(d0) -> (d0)>}> : (tensor<4xf32>, index) -> f64
    topi.yield %v : f64
  }
  func.return %r : tensor<4xf64>
}

// -----

func.func @leaves_the_tensor(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = topi.compute "c" [%i : 4] : tensor<4xf32> {
    // expected-error@below {{[topi.read C4] index 0 runs from 1 to 4, outside of tensor<4xf32>; surround the read with topi.guard}}
    %v = topi.read %x[%i + 1] : tensor<4xf32>
    topi.yield %v : f32
  }
  func.return %r : tensor<4xf32>
}

// -----

func.func @no_body(%x: tensor<4xf32>, %i: index) -> f32 {
  // expected-error@below {{[topi.read C5]}}
  %v = topi.read %x[%i] : tensor<4xf32>
  func.return %v : f32
}

// -----

func.func @index_operands() -> tensor<4xindex> {
  %r = topi.compute "c" [%i : 4] : tensor<4xindex> {
    // expected-error@below {{[topi.index C1] index map (d0, d1) -> (d0)}}
    %v = "topi.index"(%i) <{access = affine_map<(d0, d1) -> (d0)>}> : (index) -> index
    topi.yield %v : index
  }
  func.return %r : tensor<4xindex>
}

// -----

func.func @two_indices() -> tensor<4xindex> {
  %r = topi.compute "c" [%i : 4] : tensor<4xindex> {
    // expected-error@below {{[topi.index C2]}}
    %v = topi.index [%i, %i + 1]
    topi.yield %v : index
  }
  func.return %r : tensor<4xindex>
}

// -----

func.func @bounds_operands() -> tensor<4xi1> {
  %r = topi.compute "c" [%i : 4] : tensor<4xi1> {
    // expected-error@below {{[topi.in_bounds C1] index map (d0, d1) -> (d0)}}
    %v = "topi.in_bounds"(%i) <{access = affine_map<(d0, d1) -> (d0)>, sizes = array<i64: 4>}> : (index) -> i1
    topi.yield %v : i1
  }
  func.return %r : tensor<4xi1>
}

// -----

func.func @bounds_sizes() -> tensor<4xi1> {
  %r = topi.compute "c" [%i : 4] : tensor<4xi1> {
    // expected-error@below {{[topi.in_bounds C2] 1 expressions, 2 sizes}}
    %v = topi.in_bounds [%i] of [4, 4]
    topi.yield %v : i1
  }
  func.return %r : tensor<4xi1>
}

// -----

func.func @guard_types(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = topi.compute "c" [%i : 4] : tensor<4xf32> {
    %p = topi.in_bounds [%i] of [2]
    // expected-error@below {{[topi.guard C1] a region yields [index], the result is f32}}
    %v = topi.guard (%p) -> f32 {
      %a = topi.read %x[%i] : tensor<4xf32>
      topi.yield %a : f32
    } else {
      topi.yield %i : index
    }
    topi.yield %v : f32
  }
  func.return %r : tensor<4xf32>
}

// -----

func.func @unsigned_scalar(%x: tensor<4xui8>) -> tensor<4xui8> {
  // expected-error@below {{[topi.compute C4]}}
  %r = topi.compute "id" [%i : 4] : tensor<4xui8> {
    // expected-error@below {{[topi.read C3] result ui8 differs from element type i8}}
    %v = "topi.read"(%x, %i) {access = affine_map<(d0) -> (d0)>} : (tensor<4xui8>, index) -> ui8
    topi.yield %v : ui8
  }
  func.return %r : tensor<4xui8>
}
