// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @named(
func.func @named(%b: tensor<?x?x4xf64, #relay.dims<n, k>>, %s: tensor<?x3x?xf64, #relay.dims<n, k>>, %m: tensor<i32>, %t: tensor<f64>) {
  // CHECK: -> tuple<tensor<?x3xi64, #relay.dims<3 * k * n>>, tensor<1xi64>>
  %r = relay.vision.all_class_non_max_suppression(%b, %s, %m, %t, %t)
    : (tensor<?x?x4xf64, #relay.dims<n, k>>, tensor<?x3x?xf64, #relay.dims<n, k>>, tensor<i32>, tensor<f64>, tensor<f64>)
    -> tuple<tensor<?x3xi64, #relay.dims<3 * k * n>>, tensor<1xi64>>
  func.return
}
