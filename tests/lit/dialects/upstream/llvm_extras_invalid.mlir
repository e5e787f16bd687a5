// RUN: xrelay-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{[llvm.loop_annotation C1] 'unrol'}}
"test.op"() {llvm.loop_annotation = #llvm.loop_annotation<unrol = <full = true>>} : () -> ()

// -----

// expected-error@+1 {{[llvm.loop_annotation C1] unroll.width is not one of disable, count, runtimeDisable, full}}
"test.op"() {llvm.loop_annotation = #llvm.loop_annotation<unroll = <width = 4 : i32>>} : () -> ()

// -----

// expected-error@+1 {{[llvm.loop_annotation C2] unroll.full = 4 : i32 should be true or false}}
"test.op"() {llvm.loop_annotation = #llvm.loop_annotation<unroll = <full = 4 : i32>>} : () -> ()

// -----

llvm.func @fcmp_c1(%x: vector<8xf32>) {
  // expected-error@+1 {{[llvm.fcmp C1]}}
  %0 = "llvm.fcmp"(%x, %x) <{predicate = 1 : i64}> : (vector<8xf32>, vector<8xf32>) -> i1
  llvm.return
}

// -----

llvm.func @select_c1(%c: vector<4xi1>, %x: vector<8xf32>) {
  // expected-error@+1 {{[llvm.select C1]}}
  %0 = llvm.select %c, %x, %x : vector<4xi1>, vector<8xf32>
  llvm.return
}

// -----

%p, %a = "test.op"() : () -> (!llvm.ptr, i32)
// expected-error@+1 {{[llvm.cmpxchg C1] the ordering must be 2 : i64, found 5 : i64}}
%0 = "llvm.cmpxchg"(%p, %a, %a) <{success_ordering = 2 : i64, failure_ordering = 5 : i64}> : (!llvm.ptr, i32, i32) -> !llvm.struct<(i32, i1)>

// -----

%p, %a = "test.op"() : () -> (!llvm.ptr, i32)
// expected-error@+1 {{[llvm.cmpxchg C2] the result must be !llvm.struct<(i32, i1)>, found !llvm.struct<(i32)>}}
%0 = "llvm.cmpxchg"(%p, %a, %a) <{success_ordering = 2 : i64, failure_ordering = 2 : i64}> : (!llvm.ptr, i32, i32) -> !llvm.struct<(i32)>
