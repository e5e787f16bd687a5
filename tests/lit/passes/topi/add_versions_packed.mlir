// RUN: xrelay-opt %s -p convert-relay-to-topi,topi-expand-named,topi-add-versions | filecheck %s
// RUN: sed 's/@main(/@main(%%past: tensor<?x?x8xf32, #relay.dims<b, p>>, %%present: tensor<?x?x8xf32, #relay.dims<b, p + s>>, /; s/^    -> (tensor/    -> (tensor<?x?x8xf32, #relay.dims<b, p + s>>, tensor/; s/func.return %%0, %%1 : /func.return %%present, %%0, %%1 : tensor<?x?x8xf32, #relay.dims<b, p + s>>, /' %s | xrelay-opt -p convert-relay-to-topi,topi-expand-named,topi-add-versions | filecheck %s --check-prefix=DECODER

// In a decoder, it also has a version for one position of each text, which unpacks the weight once for all rows.
// DECODER:     func.func private @packed_b1_s1(
// DECODER:     func.func private @packed_s1(
// DECODER:       topi.compute "unpack"

// A product that unpacks its weight has a version for 1 row, into which the unpacking is inlined; a plain product has not.
// CHECK-LABEL: func.func private @packed(
// CHECK-LABEL: func.func private @plain(
// CHECK:       func.func private @packed_b1_s1(%x: tensor<1x1x32xf32>
// CHECK-SAME:    loop.version = {of = @packed, sizes = {b = 1 : i64, s = 1 : i64}
// CHECK-NOT:   topi.compute "unpack"
// CHECK:       topi.compute "matmul"
// CHECK-NOT:   loop.version
func.func private @packed(%x: tensor<?x?x32xf32, #relay.dims<b, s>>, %w: tensor<1x4x16xi32>, %c: tensor<1x1x16xf32>, %z: tensor<i32>)
    -> tensor<?x?x16xf32, #relay.dims<b, s>> attributes {relay.primitive} {
  %y = relay.qnn.block_dense(%x, %w, %c, %z) {weight_layout = "NC16n"} : (tensor<?x?x32xf32, #relay.dims<b, s>>,
    tensor<1x4x16xi32>, tensor<1x1x16xf32>, tensor<i32>) -> tensor<?x?x16xf32, #relay.dims<b, s>>
  func.return %y : tensor<?x?x16xf32, #relay.dims<b, s>>
}
func.func private @plain(%x: tensor<?x?x32xf32, #relay.dims<b, s>>, %w: tensor<16x32xf32>) -> tensor<?x?x16xf32, #relay.dims<b, s>>
    attributes {relay.primitive} {
  %y = relay.nn.dense(%x, %w) : (tensor<?x?x32xf32, #relay.dims<b, s>>, tensor<16x32xf32>) -> tensor<?x?x16xf32, #relay.dims<b, s>>
  func.return %y : tensor<?x?x16xf32, #relay.dims<b, s>>
}
func.func @main(%x: tensor<?x?x32xf32, #relay.dims<b, s>>, %w: tensor<1x4x16xi32>, %c: tensor<1x1x16xf32>, %z: tensor<i32>, %v: tensor<16x32xf32>)
    -> (tensor<?x?x16xf32, #relay.dims<b, s>>, tensor<?x?x16xf32, #relay.dims<b, s>>) {
  %0 = func.call @packed(%x, %w, %c, %z) : (tensor<?x?x32xf32, #relay.dims<b, s>>, tensor<1x4x16xi32>, tensor<1x1x16xf32>, tensor<i32>)
    -> tensor<?x?x16xf32, #relay.dims<b, s>>
  %1 = func.call @plain(%x, %v) : (tensor<?x?x32xf32, #relay.dims<b, s>>, tensor<16x32xf32>) -> tensor<?x?x16xf32, #relay.dims<b, s>>
  func.return %0, %1 : tensor<?x?x16xf32, #relay.dims<b, s>>, tensor<?x?x16xf32, #relay.dims<b, s>>
}
