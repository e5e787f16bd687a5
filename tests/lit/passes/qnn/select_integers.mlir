// RUN: xrelay-opt %s -p qnn-select-integers | filecheck %s
// RUN: xrelay-opt %s -p qnn-select-integers --remarks 2>&1 >/dev/null | filecheck %s --check-prefix SAYS

// CHECK-LABEL: func.func @pool
// CHECK:         %[[M:.*]] = relay.nn.max_pool2d(%q) {pool_size = [2, 2], strides = [2, 2]} : (tensor<1x8x4x4xui8>)
// CHECK-NEXT:    %[[T:.*]] = relay.transpose(%[[M]])
// CHECK-NEXT:    func.return %[[T]]
// SAYS: relay.qnn.quantize: integers are moved and selected
func.func @pool(%q: tensor<1x8x4x4xui8>) -> tensor<1x2x2x8xui8> {
  %s = relay.constant dense<0.1> : tensor<f32>
  %z = relay.constant dense<7> : tensor<i32>
  %x = relay.qnn.dequantize(%q, %s, %z) : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<i32>) -> tensor<1x8x4x4xf32>
  %m = relay.nn.max_pool2d(%x) {pool_size = [2, 2], strides = [2, 2]} : (tensor<1x8x4x4xf32>) -> tensor<1x8x2x2xf32>
  %t = relay.transpose(%m) {axes = [0, 2, 3, 1]} : (tensor<1x8x2x2xf32>) -> tensor<1x2x2x8xf32>
  %y = relay.qnn.quantize(%t, %s, %z) {out_dtype = ui8} : (tensor<1x2x2x8xf32>, tensor<f32>, tensor<i32>) -> tensor<1x2x2x8xui8>
  func.return %y : tensor<1x2x2x8xui8>
}

// Another scale, another type, and another use of the floats.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: relay.qnn.quantize
func.func @others(%q: tensor<4x8xui8>) -> (tensor<8x4xui8>, tensor<8x4xi8>, tensor<8x4xui8>, tensor<8x4xf32>) {
  %s = relay.constant dense<0.1> : tensor<f32>
  %u = relay.constant dense<0.2> : tensor<f32>
  %z = relay.constant dense<7> : tensor<i32>
  %x = relay.qnn.dequantize(%q, %s, %z) : (tensor<4x8xui8>, tensor<f32>, tensor<i32>) -> tensor<4x8xf32>
  %a = relay.transpose(%x) : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %0 = relay.qnn.quantize(%a, %u, %z) {out_dtype = ui8} : (tensor<8x4xf32>, tensor<f32>, tensor<i32>) -> tensor<8x4xui8>
  %b = relay.transpose(%x) : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = relay.qnn.quantize(%b, %s, %z) {out_dtype = i8} : (tensor<8x4xf32>, tensor<f32>, tensor<i32>) -> tensor<8x4xi8>
  %c = relay.transpose(%x) : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %2 = relay.qnn.quantize(%c, %s, %z) {out_dtype = ui8} : (tensor<8x4xf32>, tensor<f32>, tensor<i32>) -> tensor<8x4xui8>
  func.return %0, %1, %2, %c : tensor<8x4xui8>, tensor<8x4xi8>, tensor<8x4xui8>, tensor<8x4xf32>
}

// Equal scales of all channels.
// CHECK-LABEL: func.func @channels
// CHECK-NEXT:    %[[R:.*]] = relay.transpose(%q) : (tensor<4x2xui8>)
// CHECK-NEXT:    func.return %[[R]]
func.func @channels(%q: tensor<4x2xui8>) -> tensor<2x4xui8> {
  %s = relay.constant dense<0.1> : tensor<2xf32>
  %z = relay.constant dense<7> : tensor<i32>
  %x = relay.qnn.dequantize(%q, %s, %z) {axis = 1} : (tensor<4x2xui8>, tensor<2xf32>, tensor<i32>) -> tensor<4x2xf32>
  %t = relay.transpose(%x) : (tensor<4x2xf32>) -> tensor<2x4xf32>
  %y = relay.qnn.quantize(%t, %s, %z) {axis = 0, out_dtype = ui8} : (tensor<2x4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<2x4xui8>
  func.return %y : tensor<2x4xui8>
}
