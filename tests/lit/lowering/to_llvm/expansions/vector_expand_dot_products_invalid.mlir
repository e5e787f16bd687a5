// RUN: xrelay-opt %s -p vector-expand-dot-products --split-input-file --verify-diagnostics

func.func @other_sum(%m: vector<16x4xi32>, %acc: vector<16xi32>) -> vector<16xi32> {
  // expected-error@+1 {{vector-expand-dot-products: 'vector.multi_reduction' does not add up products of four bytes, ui8 by i8; help: only the ops that convert-loop-to-scf emits for contracted loops can be converted}}
  %s = vector.multi_reduction <add>, %m, %acc [1] : vector<16x4xi32> to vector<16xi32>
  func.return %s : vector<16xi32>
}
