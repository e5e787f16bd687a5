// RUN: xrelay-opt %s --split-input-file -p relay-to-a-normal-form,relay-infer-type,relay-annotate-used-memory | filecheck %s
// RUN: not xrelay-opt %s --split-input-file -p relay-annotate-used-memory 2>&1 | filecheck %s --check-prefix=FORM

// FORM: relay-annotate-used-memory: @main is not in A-normal form; help: run relay-to-a-normal-form and relay-infer-type first

// A call counts its operands and results; the second one also the result of the first, which is used later.
// CHECK-LABEL: func.func @main(%x: tensor<1x4x5x6xi8>)
// CHECK-SAME:    io_used_memory = 360 : i64
// CHECK:         relay.fn(%p: tensor<1x4x5x6xi8>)
// CHECK-SAME:      {Primitive = 1, used_memory = [240, 360]}
// CHECK:         relay.fused @fused_negative
// CHECK-SAME:      attributes {used_memory = [360]}
// CHECK:         func.call @kernel
// Functions other than main are unchanged.
// CHECK:       func.func private @kernel
// CHECK-SAME:    attributes {relay.primitive, used_memory = array<i64: 480, 480>}
// CHECK-LABEL: func.func @other
// CHECK-NOT:     used_memory
func.func @main(%x: tensor<1x4x5x6xi8>) -> tensor<1x8x30xi8> {
  %f = relay.fn(%p: tensor<1x4x5x6xi8>) -> tensor<1x4x30xi8> attributes {Primitive = 1} {
    %0 = relay.reshape(%p) {newshape = [1, 4, 30]} : (tensor<1x4x5x6xi8>) -> tensor<1x4x30xi8>
    relay.yield %0 : tensor<1x4x30xi8>
  }
  %y = relay.invoke %f(%x) : (tensor<1x4x5x6xi8>) -> tensor<1x4x30xi8>
  %z = relay.invoke %f(%x) : (tensor<1x4x5x6xi8>) -> tensor<1x4x30xi8>
  %g = relay.fused @fused_negative(%p0 = %y : tensor<1x4x30xi8>) -> tensor<1x4x30xi8> {
    %n = relay.negative(%p0) : (tensor<1x4x30xi8>) -> tensor<1x4x30xi8>
    relay.yield %n : tensor<1x4x30xi8>
  }
  %h = func.call @kernel(%z) : (tensor<1x4x30xi8>) -> tensor<1x4x30xi8>
  %k = func.call @kernel(%h) : (tensor<1x4x30xi8>) -> tensor<1x4x30xi8>
  %s = relay.add(%g, %y) : (tensor<1x4x30xi8>, tensor<1x4x30xi8>) -> tensor<1x4x30xi8>
  %t = relay.tuple(%k, %s) : (tensor<1x4x30xi8>, tensor<1x4x30xi8>) -> tuple<tensor<1x4x30xi8>, tensor<1x4x30xi8>>
  %r = relay.concatenate(%t) {axis = 1} : (tuple<tensor<1x4x30xi8>, tensor<1x4x30xi8>>) -> tensor<1x8x30xi8>
  func.return %r : tensor<1x8x30xi8>
}
func.func private @kernel(%p: tensor<1x4x30xi8>) -> tensor<1x4x30xi8> attributes {relay.primitive} {
  %n = relay.nn.relu(%p) : (tensor<1x4x30xi8>) -> tensor<1x4x30xi8>
  func.return %n : tensor<1x4x30xi8>
}
func.func @other(%p: tensor<1x4x30xi8>) -> tensor<1x4x30xi8> {
  %n = func.call @kernel(%p) : (tensor<1x4x30xi8>) -> tensor<1x4x30xi8>
  func.return %n : tensor<1x4x30xi8>
}

// -----

// In a branch, its own values and those used after it are live; the result is live while the branches run.
// CHECK-LABEL: func.func @main(%c: tensor<i1>
// CHECK:       func.func private @kernel
// CHECK-SAME:    used_memory = array<i64: 80, 48>
func.func @main(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<8xf32>) -> tensor<4xf32> {
  %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
    %a = func.call @kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %b = relay.strided_slice(%y) {begin = [0], end = [4]} : (tensor<8xf32>) -> tensor<4xf32>
    %d = relay.add(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %d : tensor<4xf32>
  } else {
    %a = func.call @kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %a : tensor<4xf32>
  }
  %s = relay.negative(%r) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %s : tensor<4xf32>
}
func.func private @kernel(%p: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %n = relay.nn.relu(%p) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %n : tensor<4xf32>
}

// -----

// The outer values of a loop are live to its end: here %x, with %t, %k and the loop's result.
// CHECK-LABEL: func.func @main(%n: tensor<i64>
// CHECK:       func.func private @kernel
// CHECK-SAME:    used_memory = array<i64: 64>
func.func @main(%n: tensor<i64>, %x: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %l = relay.loop(%i, %s = %z : tensor<4xf32>) to %n : tensor<i64> -> tuple<tensor<4xf32>> {
    %t = relay.add(%s, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %k = func.call @kernel(%t) : (tensor<4xf32>) -> tensor<4xf32>
    %y = relay.tuple(%k) : (tensor<4xf32>) -> tuple<tensor<4xf32>>
    relay.yield %y : tuple<tensor<4xf32>>
  }
  %r = relay.tuple_get_item(%l) {index = 0} : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
func.func private @kernel(%p: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %n = relay.nn.relu(%p) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %n : tensor<4xf32>
}
