// RUN: xrelay-opt %s -p convert-vector-to-llvm --split-input-file --verify-diagnostics

func.func @strided(%m: memref<8x8xf32, strided<[1, 8]>>, %i: index) -> vector<4xf32> {
  // expected-error@+1 {{failed to convert vector.load: vectors are loaded and stored along a dimension of stride 1}}
  %v = vector.load %m[%i, %i] : memref<8x8xf32, strided<[1, 8]>>, vector<4xf32>
  func.return %v : vector<4xf32>
}

// -----

func.func @two_dimensions(%x: f32) -> vector<4x4xf32> {
  // expected-error@+1 {{failed to convert vector.broadcast: only vectors of one dimension can be converted}}
  %v = vector.broadcast %x : f32 to vector<4x4xf32>
  func.return %v : vector<4x4xf32>
}

// -----

func.func @sum_of_floats(%v: vector<4xf32>) -> f32 {
  // expected-error@+1 {{failed to convert vector.reduction: only integers are reduced, without an accumulator}}
  %s = vector.reduction <add>, %v : vector<4xf32> into f32
  func.return %s : f32
}
