// RUN: xrelay-opt %s -p relay-fold-scale-axis | filecheck %s
// RUN: xrelay-opt %s -p relay-fold-scale-axis --remarks 2>&1 >/dev/null | filecheck %s --check-prefix REMARK

// The weight would become infinite, or lose precision: in 16 bits, and with an infinite factor.
// REMARK-COUNT-3: f16 does not hold a constant of relay.nn.dense times the factor
// CHECK-LABEL: @weights(
// CHECK-COUNT-3: relay.multiply
func.func @weights(%x: tensor<2x1xf16>) -> (tensor<2x1xf16>, tensor<2x1xf16>, tensor<2x1xf16>) {
  %w = relay.constant dense<100.0> : tensor<1x1xf16>
  %great = relay.constant dense<3.0e4> : tensor<f16>
  %small = relay.constant dense<1.0e-7> : tensor<f16>
  %infinite = relay.constant dense<0x7C00> : tensor<f16>
  %v = relay.constant dense<1.0e-3> : tensor<1x1xf16>
  %a = relay.nn.dense(%x, %w) : (tensor<2x1xf16>, tensor<1x1xf16>) -> tensor<2x1xf16>
  %b = relay.multiply(%a, %great) : (tensor<2x1xf16>, tensor<f16>) -> tensor<2x1xf16>
  %c = relay.nn.dense(%x, %v) : (tensor<2x1xf16>, tensor<1x1xf16>) -> tensor<2x1xf16>
  %d = relay.multiply(%c, %small) : (tensor<2x1xf16>, tensor<f16>) -> tensor<2x1xf16>
  %e = relay.nn.dense(%x, %v) : (tensor<2x1xf16>, tensor<1x1xf16>) -> tensor<2x1xf16>
  %f = relay.multiply(%e, %infinite) : (tensor<2x1xf16>, tensor<f16>) -> tensor<2x1xf16>
  func.return %b, %d, %f : tensor<2x1xf16>, tensor<2x1xf16>, tensor<2x1xf16>
}

// Before a layer, an addend is divided by the factor.
// CHECK-LABEL: @added(
// CHECK:         relay.multiply
// CHECK:         relay.add
func.func @added(%x: tensor<2x1xf16>) -> tensor<2x1xf16> {
  %w = relay.constant dense<1.0> : tensor<1x1xf16>
  %small = relay.constant dense<1.0e-4> : tensor<f16>
  %b = relay.constant dense<1.0e2> : tensor<1xf16>
  %a = relay.multiply(%x, %small) : (tensor<2x1xf16>, tensor<f16>) -> tensor<2x1xf16>
  %c = relay.add(%a, %b) : (tensor<2x1xf16>, tensor<1xf16>) -> tensor<2x1xf16>
  %d = relay.nn.dense(%c, %w) : (tensor<2x1xf16>, tensor<1x1xf16>) -> tensor<2x1xf16>
  func.return %d : tensor<2x1xf16>
}

// A layer without units has nothing to scale.
// CHECK-LABEL: @no_units(
// CHECK-NOT:     relay.multiply
func.func @no_units(%x: tensor<2x3xf32>) -> tensor<2x0xf32> {
  %w = relay.constant dense<> : tensor<0x3xf32>
  %s = relay.constant dense<> : tensor<0xf32>
  %a = relay.nn.dense(%x, %w) : (tensor<2x3xf32>, tensor<0x3xf32>) -> tensor<2x0xf32>
  %y = relay.multiply(%a, %s) : (tensor<2x0xf32>, tensor<0xf32>) -> tensor<2x0xf32>
  func.return %y : tensor<2x0xf32>
}
