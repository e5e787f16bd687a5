// The result is upstream MLIR: mlir-opt parses, verifies and prints it.
// REQUIRES: mlir-opt
// RUN: xrelay-opt %S/../../../../benchmarks/kernels/gemm_6x64.mlir -p loop-apply-schedules,loop-lower-blocks,loop-plan-memory,convert-loop-to-scf | %mlir_opt | filecheck %s
// RUN: xrelay-opt %S/../../../../benchmarks/kernels/conv3x3_nchw16c.mlir -p loop-apply-schedules,loop-lower-blocks,loop-plan-memory,convert-loop-to-scf | %mlir_opt | filecheck %s --check-prefix CONV
// RUN: xrelay-opt %S/convert_loop_to_scf.mlir --split-input-file -p convert-loop-to-scf | %mlir_opt --split-input-file | filecheck %s --check-prefix ALL
// RUN: xrelay-opt %S/flat_buffers.mlir -p convert-loop-to-scf | %mlir_opt --allow-unregistered-dialect
// RUN: xrelay-opt %S/graph_function.mlir -p convert-loop-to-scf | %mlir_opt --allow-unregistered-dialect
// RUN: xrelay-opt %S/graph_function.mlir -p convert-loop-to-scf,convert-scf-to-branches,convert-memref-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,convert-func-to-llvm | %mlir_opt --allow-unregistered-dialect
// RUN: xrelay-opt %S/dot_products.mlir -p convert-loop-to-scf | %mlir_opt | filecheck %s --check-prefix DOT
// RUN: xrelay-opt %S/../to_llvm/expansions/vector_expand_dot_products.mlir -p vector-expand-dot-products | %mlir_opt
// RUN: xrelay-opt %S/../to_llvm/expansions/vector_expand_dot_products.mlir -p 'vector-expand-dot-products{instruction=vpdpbusd}' | %mlir_opt | filecheck %s --check-prefix VNNI
// RUN: xrelay-opt %S/../to_llvm/expansions/vector_expand_dot_products.mlir -p 'vector-expand-dot-products{instruction=pmaddwd}' | %mlir_opt
// RUN: xrelay-opt %S/sort.mlir -p loop-lower-blocks,convert-loop-to-scf | %mlir_opt | filecheck %s --check-prefix SORT
// RUN: xrelay-opt %S/../../passes/loop/lower_blocks.mlir --split-input-file -p loop-lower-blocks,convert-loop-to-scf | %mlir_opt --split-input-file
// RUN: xrelay-opt %S/../../passes/loop/plan_memory.mlir --split-input-file -p loop-plan-memory,convert-loop-to-scf | %mlir_opt --split-input-file

// CHECK: memref.alloca() {alignment = 64 : i64} : memref<6x4xvector<16xf32>>
// CHECK: arith.addf {{.*}} fastmath<contract> : vector<16xf32>
// CHECK: llvm.loop_annotation = #
// CONV: memref.alloca() {alignment = 64 : i64} : memref<2x14xvector<16xf32>>
// CONV: arith.maximumf
// ALL: vector.maskedload
// ALL: scf.parallel
// SORT: scf.while
// DOT: vector.multi_reduction <add>
// VNNI: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
