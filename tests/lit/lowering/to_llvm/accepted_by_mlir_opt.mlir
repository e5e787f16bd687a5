// A current mlir-opt accepts the input and the result of each step.
// REQUIRES: mlir-opt
// RUN: %mlir_opt %s > %t.0
// RUN: rm -rf %t.d
// RUN: xrelay-opt %s -p convert-scf-parallel-to-calls,math-expand,convert-scf-to-branches,convert-memref-to-llvm,convert-vector-to-llvm,convert-arith-to-llvm,convert-math-to-llvm,convert-cf-to-llvm,convert-func-to-llvm --dump-stages %t.d > %t.9
// RUN: cat %t.d/*.mlir > %t.all
// RUN: %mlir_opt %t.all > %t.out
// RUN: filecheck %s < %t.9

// No cast remains at the end.
// CHECK-LABEL: llvm.func @k_parallel_0
// CHECK-NOT: unrealized_conversion_cast
// CHECK: llvm.func @xrelay_entry
// CHECK-NOT: unrealized_conversion_cast
func.func private @k(
    %x: memref<4x60xf32> {llvm.noalias}, %b: memref<4xi1>, %y: memref<4x60xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c60 = arith.constant 60 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  "scf.parallel"(%c0, %c4, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    %acc = memref.alloca() : memref<2xvector<8xf32>>
    memref.store %zero, %acc[%c0] : memref<2xvector<8xf32>>
    %flag = memref.load %b[%i] : memref<4xi1>
    scf.if %flag {
      scf.for %j = %c0 to %c60 step %c8 {
        %left = arith.subi %c60, %j : index
        %mask = vector.create_mask %left : vector<8xi1>
        %v = vector.maskedload %x[%i, %j], %mask, %zero : memref<4x60xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
        %e = math.exp %v : vector<8xf32>
        %small = arith.cmpf olt, %e, %v : vector<8xf32>
        %r = arith.select %small, %e, %v : vector<8xi1>, vector<8xf32>
        %a = memref.load %acc[%c0] : memref<2xvector<8xf32>>
        %s = arith.addf %a, %r fastmath<contract> : vector<8xf32>
        memref.store %s, %acc[%c0] : memref<2xvector<8xf32>>
        vector.maskedstore %y[%i, %j], %mask, %r : memref<4x60xf32>, vector<8xi1>, vector<8xf32>
      } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
      %a = memref.load %acc[%c0] : memref<2xvector<8xf32>>
      %sum = vector.extract %a[0] : f32 from vector<8xf32>
      memref.store %sum, %y[%i, %c0] : memref<4x60xf32>
    } else {
      %v = vector.load %x[%i, %c4] : memref<4x60xf32>, vector<8xf32>
      vector.store %v, %y[%i, %c0] : memref<4x60xf32>, vector<8xf32>
    }
    scf.reduce
  }) : (index, index, index) -> ()
  %ok = arith.cmpi slt, %c0, %c4 : index
  cf.assert %ok, "index out of range"
  func.return
}

func.func @main(%x: memref<4x60xf32>, %b: memref<4xi1>, %y: memref<4x60xf32>, %arena: memref<?xi8>) {
  %c64 = arith.constant 64 : index
  %t = memref.view %arena[%c64][] : memref<?xi8> to memref<4x60xf32>
  func.call @k(%x, %b, %t) : (memref<4x60xf32>, memref<4xi1>, memref<4x60xf32>) -> ()
  "memref.copy"(%t, %y) : (memref<4x60xf32>, memref<4x60xf32>) -> ()
  func.return
}
