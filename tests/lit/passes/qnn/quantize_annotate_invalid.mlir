// RUN: xrelay-opt %s -p relay-quantize-annotate --split-input-file --verify-diagnostics
// RUN: not xrelay-opt %s -p 'relay-quantize-annotate{nbit-input=9}' 2>&1 | filecheck %s --check-prefix BITS
// RUN: not xrelay-opt %s -p 'relay-quantize-annotate{dtype-input=int16}' 2>&1 | filecheck %s --check-prefix DTYPE
// RUN: not xrelay-opt %s -p 'relay-quantize-annotate{weight-scale=mean}' 2>&1 | filecheck %s --check-prefix SCALE
// RUN: not xrelay-opt %s -p 'relay-quantize-annotate{global-scale=-1.0}' 2>&1 | filecheck %s --check-prefix GLOBAL
// RUN: not xrelay-opt %s -p 'relay-quantize-annotate{enabled-ops="nn.conv2"}' 2>&1 | filecheck %s --check-prefix OPS
// RUN: not xrelay-opt %s -p 'relay-quantize-realize{rounding=DOWN}' 2>&1 | filecheck %s --check-prefix ROUNDING

// BITS: nbit-input is 9; help: it is 2 to 8
// DTYPE: dtype-input is 'int16'; help: it is int8 or uint8
// SCALE: weight-scale is 'mean'; help: it is power2 or max
// GLOBAL: global-scale is -1; help: {{.*}}
// OPS: enabled-ops: {{.*}}nn.conv2d
// ROUNDING: rounding is 'DOWN'; help: it is UPWARD or TONEAREST

func.func @descending(%x: tensor<1x4xf32>, %w: tensor<2x4xf32>) -> tensor<1x2xf32> {
  // expected-error@+1 {{relay.calibrated of relay.nn.dense is not two ascending numbers for each operand}}
  %y = relay.nn.dense(%x, %w) {relay.calibrated = [array<f64: 1.0, -1.0>, unit]} : (tensor<1x4xf32>, tensor<2x4xf32>) -> tensor<1x2xf32>
  func.return %y : tensor<1x2xf32>
}

// -----

func.func @too_few(%x: tensor<1x4xf32>, %w: tensor<2x4xf32>) -> tensor<1x2xf32> {
  // expected-error@+1 {{is not two ascending numbers for each operand}}
  %y = relay.nn.dense(%x, %w) {relay.calibrated = [unit]} : (tensor<1x4xf32>, tensor<2x4xf32>) -> tensor<1x2xf32>
  func.return %y : tensor<1x2xf32>
}
