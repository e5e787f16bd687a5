// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @negative_size(%at: tensor<4xindex>) -> tensor<4xindex> {
  %r = topi.compute "check" [%i : 4] : tensor<4xindex> {
    %a = topi.read %at[%i] : tensor<4xindex>
    // expected-error@below {{[topi.checked_index C1] size -1 is negative}}
    %k = topi.checked_index %a of -1
    topi.yield %k : index
  }
  func.return %r : tensor<4xindex>
}

// -----

%i = "test.op"() : () -> index
// expected-error@below {{[topi.extents C1]}}
%k = "topi.checked_index"(%i) <{size = #topi.extents<>}> : (index) -> index

// -----

%i = "test.op"() : () -> index
// expected-error@below {{[topi.extents C2]}}
%k = "topi.checked_index"(%i) <{size = #topi.extents<?>}> : (index) -> index

// -----

%i = "test.op"() : () -> index
// expected-error@below {{[topi.checked_index C1]}}
%k = "topi.checked_index"(%i) <{size = #topi.extents<n, m>}> : (index) -> index
