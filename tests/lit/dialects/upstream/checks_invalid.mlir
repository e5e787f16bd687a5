// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

%a = "test.op"() : () -> i32
// expected-error@+1 {{arith.cmpi: predicate must be from 0 to 9 : i64, found 10 : i64}}
%0 = "arith.cmpi"(%a, %a) <{predicate = 10 : i64}> : (i32, i32) -> i1

// -----

%a = "test.op"() : () -> f32
// expected-error@+1 {{arith.cmpf: predicate must be from 0 to 15 : i64, found -1 : i64}}
%0 = "arith.cmpf"(%a, %a) <{predicate = -1 : i64, fastmath = #arith.fastmath<none>}> : (f32, f32) -> i1

// -----

%a = "test.op"() : () -> f32
// expected-error@+1 {{llvm.fcmp: predicate must be from 0 to 15 : i64, found 2 : i8}}
%0 = "llvm.fcmp"(%a, %a) <{predicate = 2 : i8}> : (f32, f32) -> i1

// -----

%a = "test.op"() : () -> i32
// expected-error@+1 {{llvm.icmp: predicate must be from 0 to 9 : i64, found 77 : i64}}
%0 = "llvm.icmp"(%a, %a) <{predicate = 77 : i64}> : (i32, i32) -> i1

// -----

%a = "test.op"() : () -> i32
// expected-error@+1 {{scf.while is malformed: a part is missing, of another kind, or out of range}}
%0 = "scf.while"(%a) ({
  %c = "test.op"() : () -> i1
  "scf.condition"(%c, %a) : (i1, i32) -> ()
}, {
^bb0(%x: i32):
  "scf.yield"(%x) : (i32) -> ()
}) : (i32) -> i32

// -----

// expected-error@+1 {{scf.while: the arguments of the first region must be (), found (i32)}}
"scf.while"() ({
^bb0(%y: i32):
  %c = "test.op"() : () -> i1
  "scf.condition"(%c) : (i1) -> ()
}, {
  "scf.yield"() : () -> ()
}) : () -> ()

// -----

%a = "test.op"() : () -> !llvm.struct<(i32, !llvm.array<2 x f32>)>
// expected-error@+1 {{llvm.extractvalue: !llvm.array<2 x f32>}}
%0 = "llvm.extractvalue"(%a) <{position = array<i64: 1, 2>}> : (!llvm.struct<(i32, !llvm.array<2 x f32>)>) -> f32

// -----

%a = "test.op"() : () -> !llvm.struct<(i32)>
// expected-error@+1 {{llvm.extractvalue: its result must be (i32), found (f32)}}
%0 = "llvm.extractvalue"(%a) <{position = array<i64: 0>}> : (!llvm.struct<(i32)>) -> f32

// -----

%a, %x = "test.op"() : () -> (!llvm.struct<(i32)>, f32)
// expected-error@+1 {{llvm.insertvalue: its value must be (i32), found (f32)}}
%0 = "llvm.insertvalue"(%a, %x) <{position = array<i64: 0>}> : (!llvm.struct<(i32)>, f32) -> !llvm.struct<(i32)>

// -----

// expected-error@+1 {{llvm.func: visibility_ must be from 0 to 2 : i64, found 9 : i64}}
"llvm.func"() <{sym_name = "f", function_type = !llvm.func<void ()>, linkage = #llvm.linkage<external>, visibility_ = 9 : i64, CConv = #llvm.cconv<ccc>}> ({}) : () -> ()

// -----

// expected-error@+1 {{llvm.func: the arguments of its body must be (i32), found (i64)}}
"llvm.func"() <{sym_name = "f", function_type = !llvm.func<void (i32)>, linkage = #llvm.linkage<external>, visibility_ = 0 : i64, CConv = #llvm.cconv<ccc>}> ({
^bb0(%y: i64):
  "llvm.return"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{func.func: arg_attrs has 1}}
"func.func"() <{sym_name = "f", function_type = (i32, i32) -> (), arg_attrs = [{}]}> ({
^bb0(%y: i32, %z: i32):
  "func.return"() : () -> ()
}) : () -> ()

// -----

%a = "test.op"() : () -> index
// expected-error@+1 {{scf.for: its results must be (), found (i32)}}
%0 = "scf.for"(%a, %a, %a) ({
^bb0(%i: index):
  scf.yield
}) : (index, index, index) -> i32

// -----

%a, %c = "test.op"() : () -> (index, i1)
// expected-error@+1 {{scf.if}}
%0 = "scf.if"(%c) ({
  scf.yield %a : index
}, {
  scf.yield
}) : (i1) -> index

// -----

func.func @jump(%c : i1) {
  // expected-error@+1 {{cf.cond_br}}
  "cf.cond_br"(%c, %c)[^a, ^b] <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i1, i1) -> ()
^a:
  func.return
^b:
  func.return
}

// -----

func.func @switch(%c : i32) {
  // expected-error@+1 {{cf.switch: operands for 1 blocks, but 2}}
  "cf.switch"(%c)[^a, ^a] <{operandSegmentSizes = array<i32: 1, 0, 0>, case_operand_segments = array<i32>, case_values = dense<1> : tensor<1xi32>}> : (i32) -> ()
^a:
  func.return
}

// -----

%p, %i = "test.op"() : () -> (!llvm.ptr, i64)
// expected-error@+1 {{llvm.getelementptr: 1}}
%0 = "llvm.getelementptr"(%p, %i, %i) <{rawConstantIndices = array<i32: -2147483648>, elem_type = f32, noWrapFlags = 0 : i32}> : (!llvm.ptr, i64, i64) -> !llvm.ptr
