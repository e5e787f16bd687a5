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

// CHECK-LABEL: @kinds(
func.func @kinds(%s: tensor<1x6x9xf32>, %o: tensor<1x2x9xi64>, %x: tensor<1x2x9xf32>, %m: tensor<i64>, %t: tensor<f32>) {
  // CHECK: topi.suppress(%s, %o, %x, %m, %t, %t) : (tensor<1x6x9xf32>, tensor<1x2x9xi64>
  %k = topi.suppress(%s, %o, %x, %m, %t, %t)
    : (tensor<1x6x9xf32>, tensor<1x2x9xi64>, tensor<1x2x9xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<1x2x9xi1>
  func.return
}

// The relation of two names is known only at run time.
// CHECK-LABEL: @names(
func.func @names(%s: tensor<1x5x?xf32, #relay.dims<broadcast(k, l)>>, %o: tensor<1x1x?xi64, #relay.dims<n>>,
                 %x: tensor<1x1x?xf32, #relay.dims<n>>, %m: tensor<i64>, %t: tensor<f32>) {
  // CHECK: topi.suppress(%s, %o, %x, %m, %t, %t) : (tensor<1x5x?xf32, #relay.dims<broadcast(k, l)>>
  %k = topi.suppress(%s, %o, %x, %m, %t, %t)
    : (tensor<1x5x?xf32, #relay.dims<broadcast(k, l)>>, tensor<1x1x?xi64, #relay.dims<n>>,
       tensor<1x1x?xf32, #relay.dims<n>>, tensor<i64>, tensor<f32>, tensor<f32>)
    -> tensor<1x1x?xi1, #relay.dims<n>>
  func.return
}
