// RUN: xrelay-opt %s --split-input-file -p convert-topi-to-loop | filecheck %s
// RUN: xrelay-opt %s --split-input-file -p convert-topi-to-loop | xrelay-opt --split-input-file | filecheck %s

// The sizes of names follow the buffers; sizes derived from them come first, then the kernels' requirements.
// CHECK-LABEL: func.func @main(%x: memref<?x8xf32> {relay.name = "x", loop.dims = #relay.dims<n>}, %y: memref<?x8xf32> {loop.dims = #relay.dims<2 * n>}, %n: index {xrelay.dim = "n"}) attributes {loop.num_outputs = 1 : i64} {
// CHECK: %[[TWICE:.*]] = arith.muli %n
// CHECK: %[[FITS:.*]] = arith.cmpi sge, %{{.*}}, %[[TWICE]] : index
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: %[[OK:.*]] = arith.cmpi sge, %n, %[[ONE]] : index
// CHECK: cf.assert %[[OK]], "shape mismatch: [relay.tile C3] rows: n >= 1" {relay.requires = #relay.requirements<n >= 1 "C3 rows">, xrelay.sources = ["tile1"]}
// CHECK: cf.assert %[[FITS]], "shape mismatch: 140737488355328 >= 2 * n"
// CHECK: %t = memref.alloc(%n) : memref<?x8xf32>
// CHECK-NEXT: func.call @k(%x, %t, %n)
// CHECK-NEXT: func.call @twice(%t, %y, %n, %[[TWICE]])
func.func @main(%x: tensor<?x8xf32, #relay.dims<n>> {relay.name = "x"}) -> tensor<?x8xf32, #relay.dims<2 * n>> {
  %t = func.call @k(%x) {xrelay.demands = [{op = "relay.tile", requires = #relay.requirements<n >= 1 "C3 rows">, sources = ["tile1"]}]} : (tensor<?x8xf32, #relay.dims<n>>) -> tensor<?x8xf32, #relay.dims<n>>
  %y = func.call @twice(%t) : (tensor<?x8xf32, #relay.dims<n>>) -> tensor<?x8xf32, #relay.dims<2 * n>>
  func.return %y : tensor<?x8xf32, #relay.dims<2 * n>>
}

func.func private @k(%x: tensor<?x8xf32, #relay.dims<n>>) -> tensor<?x8xf32, #relay.dims<n>> attributes {relay.primitive} {
  %y = topi.compute "k" [%i : n, %j : 8] : tensor<?x8xf32, #relay.dims<n>> {
    %a = topi.read %x[%i, %j] : tensor<?x8xf32, #relay.dims<n>>
    topi.yield %a : f32
  }
  func.return %y : tensor<?x8xf32, #relay.dims<n>>
}

func.func private @twice(%x: tensor<?x8xf32, #relay.dims<n>>) -> tensor<?x8xf32, #relay.dims<2 * n>> attributes {relay.primitive} {
  %y = topi.compute "twice" [%i : 2 * n, %j : 8] : tensor<?x8xf32, #relay.dims<2 * n>> {
    %a = topi.read %x[%i floordiv 2, %j] : tensor<?x8xf32, #relay.dims<n>>
    topi.yield %a : f32
  }
  func.return %y : tensor<?x8xf32, #relay.dims<2 * n>>
}

// -----

// A kernel with dynamic extents copies a returned input.
// CHECK-LABEL: func.func @copies
// CHECK: func.call @copy(%x, %{{.*}}, %n) : (memref<?xf32>, memref<?xf32>, index) -> ()
// CHECK: func.func private @copy(
func.func @copies(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
  func.return %x : tensor<?xf32, #relay.dims<n>>
}
