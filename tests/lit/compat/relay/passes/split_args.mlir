// RUN: xrelay-opt %s -p 'relay-split-args{max-function-args=4}' | filecheck %s
// RUN: xrelay-opt %s -p 'relay-split-args{max-function-args=12}' | filecheck %s --check-prefix WIDE
// RUN: xrelay-opt %s -p relay-split-args | filecheck %s --check-prefix NONE
// RUN: xrelay-opt %s -p 'relay-split-args{max-function-args=4},relay-fuse-ops' | filecheck %s --check-prefix FUSED

// NONE-NOT: stop_fusion

// CHECK-LABEL: @fires(
// CHECK-NEXT:    %[[T:.*]] = relay.tuple(%a, %b, %c)
// CHECK-NEXT:    %[[W:.*]] = relay.annotation.stop_fusion(%[[T]]) : (tuple<tensor<1x2xf32>, tensor<3x2xf32>, tensor<1x2xf32>>) -> tuple<
// CHECK-NEXT:    %[[J:.*]] = relay.concatenate(%[[W]]) : {{.*}} -> tensor<5x2xf32>
// CHECK-NEXT:    %[[U:.*]] = relay.tuple(%[[J]], %d)
// CHECK-NEXT:    %[[V:.*]] = relay.annotation.stop_fusion(%[[U]])
// CHECK-NEXT:    %[[Y:.*]] = relay.concatenate(%[[V]]) : {{.*}} -> tensor<6x2xf32>
// CHECK-NEXT:    func.return %[[Y]]
// WIDE-LABEL: @fires(
// WIDE-NOT:     stop_fusion
// WIDE:         func.return
// FUSED-LABEL: @fires(
// FUSED:         relay.fused @fused_concatenate(%{{.*}} = %{{.*}} : tuple<tensor<1x2xf32>, tensor<3x2xf32>, tensor<1x2xf32>>)
// FUSED:         relay.fused @fused_concatenate_1(%{{.*}} = %{{.*}} : tuple<tensor<5x2xf32>, tensor<1x2xf32>>)
// FUSED-NOT:     stop_fusion
func.func @fires(%a: tensor<1x2xf32>, %b: tensor<3x2xf32>, %c: tensor<1x2xf32>, %d: tensor<1x2xf32>) -> tensor<6x2xf32> {
  %t = relay.tuple(%a, %b, %c, %d) : (tensor<1x2xf32>, tensor<3x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>) -> tuple<tensor<1x2xf32>, tensor<3x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>>
  %y = relay.concatenate(%t) : (tuple<tensor<1x2xf32>, tensor<3x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>>) -> tensor<6x2xf32>
  func.return %y : tensor<6x2xf32>
}

// CHECK-LABEL: @few(
// CHECK-NOT:     stop_fusion
// CHECK:         func.return
func.func @few(%a: tensor<1x2xf32>, %b: tensor<3x2xf32>) -> tensor<4x2xf32> {
  %t = relay.tuple(%a, %b) : (tensor<1x2xf32>, tensor<3x2xf32>) -> tuple<tensor<1x2xf32>, tensor<3x2xf32>>
  %y = relay.concatenate(%t) : (tuple<tensor<1x2xf32>, tensor<3x2xf32>>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}

// A tuple parameter has no field operands.
// CHECK-LABEL: @parameter(
// CHECK-NEXT:    relay.concatenate(%t)
func.func @parameter(%t: tuple<tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>>) -> tensor<4xf32> {
  %y = relay.concatenate(%t) : (tuple<tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
