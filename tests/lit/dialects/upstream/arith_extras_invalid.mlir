// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

func.func @cmpi_c1(%i: vector<8xi32>) {
  // expected-error@+1 {{[arith.cmpi C1] operand vector<8xi32> and result i1 have different shapes}}
  %0 = "arith.cmpi"(%i, %i) <{predicate = 0 : i64}> : (vector<8xi32>, vector<8xi32>) -> i1
  func.return
}

// -----

func.func @cmpf_c1(%x: f32) {
  // expected-error@+1 {{[arith.cmpf C1] operand f32 and result vector<8xi1> have different shapes}}
  %0 = "arith.cmpf"(%x, %x) <{predicate = 1 : i64, fastmath = #arith.fastmath<none>}> : (f32, f32) -> vector<8xi1>
  func.return
}

// -----

func.func @select_c1(%c: vector<4xi1>, %x: vector<8xf32>) {
  // expected-error@+1 {{[arith.select C1] operand vector<4xi1> and result vector<8xf32> have different shapes}}
  %0 = arith.select %c, %x, %x : vector<4xi1>, vector<8xf32>
  func.return
}

// -----

func.func @fptosi_c1(%x: vector<8xf32>) {
  // expected-error@+1 {{[arith.fptosi C1] operand vector<8xf32> and result i32 have different shapes}}
  %0 = arith.fptosi %x : vector<8xf32> to i32
  func.return
}

// -----

func.func @trunci_c2(%x: vector<8xi32>) {
  // expected-error@+1 {{[arith.trunci C2] vector<8xi64> is not narrower than vector<8xi32>}}
  %0 = arith.trunci %x : vector<8xi32> to vector<8xi64>
  func.return
}

// -----

func.func @extsi_c2(%x: i32) {
  // expected-error@+1 {{[arith.extsi C2] i8 is not wider than i32}}
  %0 = arith.extsi %x : i32 to i8
  func.return
}

// -----

func.func @index_cast_c2(%x: i32) {
  // expected-error@+1 {{[arith.index_cast C2] exactly one of i32 and i64 must be index}}
  %0 = arith.index_cast %x : i32 to i64
  func.return
}
