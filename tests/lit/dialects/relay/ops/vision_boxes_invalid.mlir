// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @score(%x: tensor<2x5x6xf32>, %s: tensor<f32>) {
  // expected-error@below {{[relay.vision.get_valid_counts C3] score 6, class 0 and up to number -1 of rows of 6}}
  %z = relay.vision.get_valid_counts(%x, %s) {score_index = 6} : (tensor<2x5x6xf32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @threshold(%x: tensor<2x5x6xf32>, %s: tensor<1xf32>) {
  // expected-error@below {{[relay.vision.get_valid_counts C4] the threshold must be a float of rank 0, found tensor<1xf32>}}
  %z = relay.vision.get_valid_counts(%x, %s) : (tensor<2x5x6xf32>, tensor<1xf32>) -> !relay.incomplete
  func.return
}

// -----

func.func @corners(%x: tensor<2x5x6xf32>, %n: tensor<2xi32>, %i: tensor<2x5xi32>, %m: tensor<i32>, %t: tensor<f32>) {
  // expected-error@below {{[relay.vision.non_max_suppression C3] score 1, class 0 and up to number 6 of rows of 6}}
  %z = relay.vision.non_max_suppression(%x, %n, %i, %m, %t) {coord_start = 3} : (tensor<2x5x6xf32>, tensor<2xi32>, tensor<2x5xi32>, tensor<i32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @counts(%x: tensor<2x5x6xf32>, %n: tensor<3xi32>, %i: tensor<2x5xi32>, %m: tensor<i32>, %t: tensor<f32>) {
  // expected-error@below {{[relay.vision.non_max_suppression C5] valid_count tensor<3xi32> and indices tensor<2x5xi32> for 2 batches of 5 boxes}}
  %z = relay.vision.non_max_suppression(%x, %n, %i, %m, %t) : (tensor<2x5x6xf32>, tensor<3xi32>, tensor<2x5xi32>, tensor<i32>, tensor<f32>) -> !relay.incomplete
  func.return
}

// -----

func.func @limits(%x: tensor<2x5x6xf32>, %n: tensor<2xi32>, %i: tensor<2x5xi32>, %m: tensor<i32>, %t: tensor<1xf32>) {
  // expected-error@below {{[relay.vision.non_max_suppression C6] limits tensor<i32> and tensor<1xf32> must be of rank 0, of i32 and a float}}
  %z = relay.vision.non_max_suppression(%x, %n, %i, %m, %t) : (tensor<2x5x6xf32>, tensor<2xi32>, tensor<2x5xi32>, tensor<i32>, tensor<1xf32>) -> !relay.incomplete
  func.return
}

// -----

// No extent `n` contains the score index.
func.func @score_beyond_all_rows(%x: tensor<1x4x?xf32, #relay.dims<n>>, %t: tensor<f32>) {
  // expected-error@below {{[relay.vision.get_valid_counts C3]}}
  %r = relay.vision.get_valid_counts(%x, %t) {score_index = 9223372036854775807} : (tensor<1x4x?xf32, #relay.dims<n>>, tensor<f32>) -> !relay.incomplete
  func.return
}
