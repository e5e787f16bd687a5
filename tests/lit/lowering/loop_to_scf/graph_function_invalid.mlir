// RUN: xrelay-opt %s -p convert-loop-to-scf --split-input-file --verify-diagnostics

// expected-error@+1 {{@main returns tensor<?xf32, #relay.dims<n>>, whose extents follow from its inputs}}
func.func @main(%x: memref<?xf32> {loop.dims = #relay.dims<n>}, %n: index {xrelay.dim = "n"})
    -> (memref<?xf32> {loop.dims = #relay.dims<n>}, index) attributes {loop.num_outputs = 0 : i64} {
  %a = memref.alloc(%n) : memref<?xf32>
  func.return %a, %n : memref<?xf32>, index
}

// -----

// expected-error@+1 {{@main writes tensor<?xf32, #relay.dims<k>>, whose extents do}}
func.func @main(%x: memref<?xf32> {loop.dims = #relay.dims<k>}) attributes {loop.num_outputs = 1 : i64} {
  func.return
}

// -----

// expected-error@+1 {{@main has 1 outputs, loop.place puts some at [1]}}
func.func @main(%k: index) -> (memref<?xf32> {loop.dims = #relay.dims<k>, loop.place = 1 : i64}, index)
    attributes {loop.num_outputs = 0 : i64} {
  %a = memref.alloc(%k) : memref<?xf32>
  func.return %a, %k : memref<?xf32>, index
}
