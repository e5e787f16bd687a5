// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @constant_c1() {
  // expected-error@+1 {{[func.constant C1] @nothing is not the name of a func.func}}
  %0 = func.constant @nothing : () -> ()
  func.return
}

// -----

func.func @constant_c2() {
  // expected-error@+1 {{[func.constant C2] @constant_c2 is of type () -> (), not (index) -> ()}}
  %0 = func.constant @constant_c2 : (index) -> ()
  func.return
}
