// RUN: xrelay-opt %s -p relay-infer-type,relay-inline --remarks relay-inline 2>&1 | filecheck %s

// A branch of @sum is invalid at these extents: the call stays, and so do all calls with named dimensions.
// CHECK:       remark: relay-inline: relay.call: callees with named dimensions are not inlined: {{.*}}broadcast(p, q) has no value: 2 and 3 do not broadcast
// CHECK-LABEL: func.func @main(
// CHECK-NEXT:    relay.negative(%x)
// CHECK-NEXT:    relay.call @sum<p = 2, q = 3>(%c, %{{.*}}, %y)
// CHECK-NEXT:    func.return
func.func @main(%c: tensor<i1>, %x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<f32> {
  %z = func.call @plain(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %r = relay.call @sum(%c, %z, %y) : (tensor<i1>, tensor<2xf32>, tensor<3xf32>) -> tensor<f32>
  func.return %r : tensor<f32>
}
func.func private @plain(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = relay.negative(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
func.func private @sum(%c: tensor<i1>, %a: tensor<?xf32, #relay.dims<p>>, %b: tensor<?xf32, #relay.dims<q>>) -> tensor<f32> {
  %r = relay.if %c : tensor<i1> -> tensor<f32> {
    %s = relay.add(%a, %b) : (tensor<?xf32, #relay.dims<p>>, tensor<?xf32, #relay.dims<q>>) -> !relay.incomplete
    %t = relay.sum(%s) : (!relay.incomplete) -> tensor<f32>
    relay.yield %t : tensor<f32>
  } else {
    %t = relay.sum(%a) : (tensor<?xf32, #relay.dims<p>>) -> tensor<f32>
    relay.yield %t : tensor<f32>
  }
  func.return %r : tensor<f32>
}
