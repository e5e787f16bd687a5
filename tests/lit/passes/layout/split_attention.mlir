// RUN: xrelay-opt %s -p relay-infer-type,relay-split-attention{tiles=tdpbusd,tdpbf16ps} | filecheck %s
// RUN: xrelay-opt %s -p relay-infer-type,relay-split-attention{tiles=tdpbf16ps} --remarks 2>&1 >/dev/null | filecheck %s --check-prefix SAYS
// RUN: xrelay-opt %s -p relay-infer-type,relay-split-attention{tiles=tdpbusd} | filecheck %s --check-prefix OTHER
// RUN: xrelay-opt %s -p 'relay-infer-type,relay-split-attention{tiles=tdpbf16ps vector-lanes=8}' | filecheck %s --check-prefix OTHER

// OTHER-NOT: contrib_split_floats

// The mask is added to the scores. Keys are in rows, and values in columns.
// CHECK-LABEL: func.func @attention
// CHECK:         %[[K:.*]] = relay.layout_transform(%k) {src_layout = "ANC", dst_layout = "ANC16n2c"}
// CHECK-NEXT:    %[[A:.*]] = relay.nn.contrib_split_floats(%q)
// CHECK-NEXT:    %[[B:.*]] = relay.nn.contrib_split_floats(%[[K]])
// CHECK-NEXT:    %[[S:.*]] = relay.nn.contrib_dense_split(%[[A]], %[[B]])
// CHECK-NEXT:    %[[M:.*]] = relay.add(%[[S]], %m)
// CHECK-NEXT:    %[[W:.*]] = relay.nn.softmax(%[[M]])
// CHECK-NEXT:    %[[V:.*]] = relay.layout_transform(%v) {src_layout = "ACN", dst_layout = "ANC16n2c"}
// CHECK-NEXT:    %[[C:.*]] = relay.nn.contrib_split_floats(%[[W]])
// CHECK-NEXT:    %[[D:.*]] = relay.nn.contrib_split_floats(%[[V]])
// CHECK-NEXT:    relay.nn.contrib_dense_split(%[[C]], %[[D]])
// SAYS: relay.nn.batch_matmul: the products of attention are three products of bf16 parts
func.func @attention(%q: tensor<2x256x64xf32>, %k: tensor<2x512x64xf32>, %v: tensor<2x512x48xf32>, %m: tensor<512xf32>) -> tensor<2x256x48xf32> {
  %s = relay.nn.batch_matmul(%q, %k) : (tensor<2x256x64xf32>, tensor<2x512x64xf32>) -> tensor<2x256x512xf32>
  %a = relay.add(%s, %m) : (tensor<2x256x512xf32>, tensor<512xf32>) -> tensor<2x256x512xf32>
  %w = relay.nn.softmax(%a) : (tensor<2x256x512xf32>) -> tensor<2x256x512xf32>
  %y = relay.nn.batch_matmul(%w, %v) {transpose_b = false} : (tensor<2x256x512xf32>, tensor<2x512x48xf32>) -> tensor<2x256x48xf32>
  func.return %y : tensor<2x256x48xf32>
}

// The scores, or the weights, are a result too; a product whose left factor is no softmax has no remark.
// CHECK-LABEL: func.func @read
// CHECK-NOT: contrib_split_floats
// SAYS: relay.nn.batch_matmul: its weights are no rows that only one product reads
func.func @read(%q: tensor<2x512x64xf32>) -> (tensor<2x512x512xf32>, tensor<2x512x512xf32>, tensor<2x512x64xf32>, tensor<2x512x64xf32>) {
  %s = relay.nn.batch_matmul(%q, %q) : (tensor<2x512x64xf32>, tensor<2x512x64xf32>) -> tensor<2x512x512xf32>
  %w = relay.nn.softmax(%s) : (tensor<2x512x512xf32>) -> tensor<2x512x512xf32>
  %y = relay.nn.batch_matmul(%w, %q) {transpose_b = false} : (tensor<2x512x512xf32>, tensor<2x512x64xf32>) -> tensor<2x512x64xf32>
  %t = relay.nn.batch_matmul(%q, %q) : (tensor<2x512x64xf32>, tensor<2x512x64xf32>) -> tensor<2x512x512xf32>
  %x = relay.nn.softmax(%t) : (tensor<2x512x512xf32>) -> tensor<2x512x512xf32>
  %z = relay.nn.batch_matmul(%x, %q) {transpose_b = false} : (tensor<2x512x512xf32>, tensor<2x512x64xf32>) -> tensor<2x512x64xf32>
  func.return %s, %x, %y, %z : tensor<2x512x512xf32>, tensor<2x512x512xf32>, tensor<2x512x64xf32>, tensor<2x512x64xf32>
}

// CHECK-LABEL: func.func @dynamic
// CHECK-NOT: contrib_split_floats
// SAYS: relay.nn.batch_matmul: its sizes are dynamic
func.func @dynamic(%q: tensor<2x?x64xf32, #relay.dims<n>>) -> tensor<2x?x64xf32, #relay.dims<n>> {
  %s = relay.nn.batch_matmul(%q, %q) : (tensor<2x?x64xf32, #relay.dims<n>>, tensor<2x?x64xf32, #relay.dims<n>>) -> tensor<2x?x?xf32, #relay.dims<n, n>>
  %w = relay.nn.softmax(%s) : (tensor<2x?x?xf32, #relay.dims<n, n>>) -> tensor<2x?x?xf32, #relay.dims<n, n>>
  %y = relay.nn.batch_matmul(%w, %q) {transpose_b = false} : (tensor<2x?x?xf32, #relay.dims<n, n>>, tensor<2x?x64xf32, #relay.dims<n>>) -> tensor<2x?x64xf32, #relay.dims<n>>
  func.return %y : tensor<2x?x64xf32, #relay.dims<n>>
}

// CHECK-LABEL: func.func @partial_tiles
// CHECK-NOT: contrib_split_floats
// SAYS: relay.nn.batch_matmul: 512 queries, 197 keys, and 64 and 64 elements do not fill tiles
func.func @partial_tiles(%q: tensor<2x512x64xf32>, %k: tensor<2x197x64xf32>) -> tensor<2x512x64xf32> {
  %s = relay.nn.batch_matmul(%q, %k) : (tensor<2x512x64xf32>, tensor<2x197x64xf32>) -> tensor<2x512x197xf32>
  %w = relay.nn.softmax(%s) : (tensor<2x512x197xf32>) -> tensor<2x512x197xf32>
  %y = relay.nn.batch_matmul(%w, %k) {transpose_b = false} : (tensor<2x512x197xf32>, tensor<2x197x64xf32>) -> tensor<2x512x64xf32>
  func.return %y : tensor<2x512x64xf32>
}

// The values broadcast along the stack.
// CHECK-LABEL: func.func @broadcast
// CHECK-NOT: contrib_split_floats
// SAYS: relay.nn.batch_matmul: keys or values broadcast along its stack
func.func @broadcast(%q: tensor<2x512x64xf32>, %v: tensor<1x512x64xf32>) -> tensor<2x512x64xf32> {
  %s = relay.nn.batch_matmul(%q, %q) : (tensor<2x512x64xf32>, tensor<2x512x64xf32>) -> tensor<2x512x512xf32>
  %w = relay.nn.softmax(%s) : (tensor<2x512x512xf32>) -> tensor<2x512x512xf32>
  %y = relay.nn.batch_matmul(%w, %v) {transpose_b = false} : (tensor<2x512x512xf32>, tensor<1x512x64xf32>) -> tensor<2x512x64xf32>
  func.return %y : tensor<2x512x64xf32>
}

// CHECK-LABEL: func.func @halves
// CHECK-NOT: contrib_split_floats
// SAYS: relay.nn.batch_matmul: its elements are not all f32
func.func @halves(%q: tensor<2x512x64xf16>) -> tensor<2x512x64xf16> {
  %s = relay.nn.batch_matmul(%q, %q) : (tensor<2x512x64xf16>, tensor<2x512x64xf16>) -> tensor<2x512x512xf16>
  %w = relay.nn.softmax(%s) : (tensor<2x512x512xf16>) -> tensor<2x512x512xf16>
  %y = relay.nn.batch_matmul(%w, %q) {transpose_b = false} : (tensor<2x512x512xf16>, tensor<2x512x64xf16>) -> tensor<2x512x64xf16>
  func.return %y : tensor<2x512x64xf16>
}

// CHECK-LABEL: func.func @small
// CHECK-NOT: contrib_split_floats
// SAYS: relay.nn.batch_matmul: products of f32 are about as fast
func.func @small(%q: tensor<2x32x64xf32>) -> tensor<2x32x64xf32> {
  %s = relay.nn.batch_matmul(%q, %q) : (tensor<2x32x64xf32>, tensor<2x32x64xf32>) -> tensor<2x32x32xf32>
  %w = relay.nn.softmax(%s) : (tensor<2x32x32xf32>) -> tensor<2x32x32xf32>
  %y = relay.nn.batch_matmul(%w, %q) {transpose_b = false} : (tensor<2x32x32xf32>, tensor<2x32x64xf32>) -> tensor<2x32x64xf32>
  func.return %y : tensor<2x32x64xf32>
}
