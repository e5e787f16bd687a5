// RUN: xrelay-opt %s -p convert-topi-to-loop | filecheck %s
// RUN: xrelay-opt %s -p convert-topi-to-loop,loop-lower-blocks,convert-loop-to-scf | filecheck %s --check-prefix=SCF

// Each class of each batch has scratch for the sides of its selected boxes, and for an incomplete chunk.
// CHECK-LABEL: func.func private @best
// CHECK-SAME: %n: index, %extent: index)
// CHECK-SAME: loop.dims = #relay.dims<n, n + 7>
// CHECK-NEXT: %selected_sides = memref.alloc(%extent) : memref<1x2x5x?xf32>
// CHECK-NEXT: loop.for "i1" %i1 to 2 {
// CHECK-NEXT:   loop.block "suppress" (%v0 : spatial 1 = 0, %v1 : spatial 2 = %i1) reads(%sides, %order, %scores, %most, %iou, %least) writes(%kept, %selected_sides) {
// CHECK-NEXT:     loop.suppress[%v0, %v1] %sides, %order, %scores, %most, %iou, %least into %kept scratch %selected_sides

// A row ends at the first score that is too low; a box is compared up to the first chunk that it overlaps.
// SCF-LABEL: func.func private @best
// SCF: scf.for %{{.*}} to %n
// SCF: scf.while
// SCF: arith.cmpf ogt, %{{.*}}, %{{.*}} : f32
// SCF: scf.condition
// SCF: scf.while
// SCF: vector.load {{.*}} : memref<?xf32>, vector<8xf32>
// SCF: arith.divf %{{.*}}, %{{.*}} : vector<8xf32>
// SCF: scf.if
// SCF: vector.store
func.func private @best(%sides: tensor<1x5x?xf32, #relay.dims<n>>, %order: tensor<1x2x?xi64, #relay.dims<n>>,
                        %scores: tensor<1x2x?xf32, #relay.dims<n>>, %most: tensor<i64>, %iou: tensor<f32>,
                        %least: tensor<f32>) -> tensor<1x2x?xi1, #relay.dims<n>> attributes {relay.primitive} {
  %kept = topi.suppress(%sides, %order, %scores, %most, %iou, %least)
    : (tensor<1x5x?xf32, #relay.dims<n>>, tensor<1x2x?xi64, #relay.dims<n>>, tensor<1x2x?xf32, #relay.dims<n>>,
       tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<1x2x?xi1, #relay.dims<n>>
  func.return %kept : tensor<1x2x?xi1, #relay.dims<n>>
}

// The extents of positions and sides may name the number of boxes differently.
// CHECK-LABEL: func.func private @counted
// CHECK: memref.alloc(%b, %extent) : memref<?x2x5x?xf32>
// CHECK: loop.suppress[%v0, %v1] %sides, %order, %scores, %most, %iou, %least into %kept scratch %selected_sides : memref<1x5x3xf32>, memref<?x2x?xi64>
func.func private @counted(%sides: tensor<1x5x3xf32>, %order: tensor<?x2x?xi64, #relay.dims<b, n>>,
                           %scores: tensor<?x2x?xf32, #relay.dims<b, n>>, %most: tensor<i64>, %iou: tensor<f32>,
                           %least: tensor<f32>) -> tensor<?x2x?xi1, #relay.dims<b, n>> attributes {relay.primitive} {
  %kept = topi.suppress(%sides, %order, %scores, %most, %iou, %least)
    : (tensor<1x5x3xf32>, tensor<?x2x?xi64, #relay.dims<b, n>>, tensor<?x2x?xf32, #relay.dims<b, n>>,
       tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<?x2x?xi1, #relay.dims<b, n>>
  func.return %kept : tensor<?x2x?xi1, #relay.dims<b, n>>
}
