// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @mask(%m: tensor<4xi8>) {
  // expected-error@below {{[topi.positions C1] the mask is tensor<4xi8>, not of i1}}
  %p, %n = topi.positions(%m) : (tensor<4xi8>) -> (tensor<4xi64>, tensor<i64>)
  func.return
}

// -----

func.func @room(%m: tensor<4x5xi1>) {
  // expected-error@below {{[topi.positions C2] positions in tensor<4x5xi1> are tensor<4xi64>, they can be tensor<20xi64>}}
  %p, %n = topi.positions(%m) : (tensor<4x5xi1>) -> (tensor<4xi64>, tensor<i64>)
  func.return
}

// -----

func.func @count(%m: tensor<4xi1>) {
  // expected-error@below {{[topi.positions C3] the count is tensor<1xi64>, not tensor<i64>}}
  %p, %n = topi.positions(%m) : (tensor<4xi1>) -> (tensor<4xi64>, tensor<1xi64>)
  func.return
}
