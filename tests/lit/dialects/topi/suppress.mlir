// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: func.func @best
// CHECK-NEXT: %kept = topi.suppress(%sides, %order, %scores, %most, %iou, %least) : (tensor<?x5x?xf32, #relay.dims<b, n>>,
func.func @best(%sides: tensor<?x5x?xf32, #relay.dims<b, n>>, %order: tensor<?x2x?xi64, #relay.dims<b, n>>,
                %scores: tensor<?x2x?xf32, #relay.dims<b, n>>, %most: tensor<i64>, %iou: tensor<f32>,
                %least: tensor<f32>) -> tensor<?x2x?xi1, #relay.dims<b, n>> {
  %kept = topi.suppress(%sides, %order, %scores, %most, %iou, %least)
    : (tensor<?x5x?xf32, #relay.dims<b, n>>, tensor<?x2x?xi64, #relay.dims<b, n>>,
       tensor<?x2x?xf32, #relay.dims<b, n>>, tensor<i64>, tensor<f32>, tensor<f32>)
    -> tensor<?x2x?xi1, #relay.dims<b, n>>
  func.return %kept : tensor<?x2x?xi1, #relay.dims<b, n>>
}
