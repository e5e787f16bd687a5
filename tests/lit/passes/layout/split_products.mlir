// RUN: xrelay-opt %s -p relay-infer-type,relay-split-products{tiles=tdpbusd,tdpbf16ps} | filecheck %s
// RUN: xrelay-opt %s -p relay-infer-type,relay-split-products{tiles=tdpbf16ps} --remarks 2>&1 >/dev/null | filecheck %s --check-prefix SAYS
// RUN: xrelay-opt %s -p relay-infer-type,relay-split-products{tiles=tdpbusd} | filecheck %s --check-prefix OTHER
// RUN: xrelay-opt %s -p 'relay-infer-type,relay-split-products{tiles=tdpbf16ps vector-lanes=8}' | filecheck %s --check-prefix OTHER

// OTHER-NOT: contrib_split_floats

// The remark on @halves is the first.
// SAYS: relay.nn.contrib_dense_pack: one product of bf16

// Products of the same data share its parts. The weight is split when constants are folded.
// CHECK-LABEL: func.func @layers
// CHECK:         %[[P:.*]] = relay.nn.contrib_split_floats(%x)
// CHECK-NEXT:    %[[W:.*]] = relay.layout_transform(%w) {src_layout = "NC16n", dst_layout = "NC16n2c"}
// CHECK-NEXT:    %[[Q:.*]] = relay.nn.contrib_split_floats(%[[W]])
// CHECK-NEXT:    relay.nn.contrib_dense_split(%[[P]], %[[Q]]) {units = 60}
// CHECK-NOT:     relay.nn.contrib_split_floats(%x)
// CHECK:         relay.nn.contrib_dense_split(%[[P]],
// SAYS: relay.nn.contrib_dense_pack: three products of bf16 parts
func.func @layers(%x: tensor<2x64x128xf32>) -> (tensor<2x64x60xf32>, tensor<2x64x64xf32>) {
  %w = relay.constant dense<1.0> : tensor<4x128x16xf32>
  %v = relay.constant dense<1.0> : tensor<64x128xf32>
  %u = relay.layout_transform(%v) {src_layout = "NC", dst_layout = "NC16n"} : (tensor<64x128xf32>) -> tensor<4x128x16xf32>
  %y = relay.nn.contrib_dense_pack(%x, %w) {weight_layout = "NC16n", units = 60} : (tensor<2x64x128xf32>, tensor<4x128x16xf32>) -> tensor<2x64x60xf32>
  %z = relay.nn.contrib_dense_pack(%x, %u) {weight_layout = "NC16n"} : (tensor<2x64x128xf32>, tensor<4x128x16xf32>) -> tensor<2x64x64xf32>
  func.return %y, %z : tensor<2x64x60xf32>, tensor<2x64x64xf32>
}

// The typical number of rows is at least that of a tile.
// SAYS: relay.nn.contrib_dense_pack: three products of bf16 parts
func.func @many_rows(%x: tensor<?x256xf32, #relay.dims<n>>) -> tensor<?x256xf32, #relay.dims<n>> attributes {relay.sizes = {n = array<i64: 1, 512, 128>}} {
  %w = relay.constant dense<1.0> : tensor<16x256x16xf32>
  %y = relay.nn.contrib_dense_pack(%x, %w) {weight_layout = "NC16n"} : (tensor<?x256xf32, #relay.dims<n>>, tensor<16x256x16xf32>) -> tensor<?x256xf32, #relay.dims<n>>
  func.return %y : tensor<?x256xf32, #relay.dims<n>>
}

// SAYS: its matrices have 15 rows, a tile has 16
func.func @some_rows(%x: tensor<?x256xf32, #relay.dims<n>>) -> tensor<?x256xf32, #relay.dims<n>> attributes {relay.sizes = {n = array<i64: 1, 512, 15>}} {
  %w = relay.constant dense<1.0> : tensor<16x256x16xf32>
  %y = relay.nn.contrib_dense_pack(%x, %w) {weight_layout = "NC16n"} : (tensor<?x256xf32, #relay.dims<n>>, tensor<16x256x16xf32>) -> tensor<?x256xf32, #relay.dims<n>>
  func.return %y : tensor<?x256xf32, #relay.dims<n>>
}

// Without a typical number, 256 rows are expected.
// SAYS: relay.nn.contrib_dense_pack: three products of bf16 parts
func.func @any_rows(%x: tensor<?x256xf32, #relay.dims<n>>) -> tensor<?x256xf32, #relay.dims<n>> {
  %w = relay.constant dense<1.0> : tensor<16x256x16xf32>
  %y = relay.nn.contrib_dense_pack(%x, %w) {weight_layout = "NC16n"} : (tensor<?x256xf32, #relay.dims<n>>, tensor<16x256x16xf32>) -> tensor<?x256xf32, #relay.dims<n>>
  func.return %y : tensor<?x256xf32, #relay.dims<n>>
}

// The rows of a tile run along the longest axis of a stack of short matrices.
// SAYS: relay.nn.contrib_dense_pack: three products of bf16 parts
// SAYS: its matrices have 8 rows, a tile has 16
func.func @small_matrices(%x: tensor<16x8x256xf32>, %z: tensor<15x8x256xf32>) -> (tensor<16x8x256xf32>, tensor<15x8x256xf32>) {
  %w = relay.constant dense<1.0> : tensor<16x256x16xf32>
  %0 = relay.nn.contrib_dense_pack(%x, %w) {weight_layout = "NC16n"} : (tensor<16x8x256xf32>, tensor<16x256x16xf32>) -> tensor<16x8x256xf32>
  %1 = relay.nn.contrib_dense_pack(%z, %w) {weight_layout = "NC16n"} : (tensor<15x8x256xf32>, tensor<16x256x16xf32>) -> tensor<15x8x256xf32>
  func.return %0, %1 : tensor<16x8x256xf32>, tensor<15x8x256xf32>
}

// SAYS: its matrices have 15 rows, a tile has 16
func.func @few_rows(%x: tensor<15x64xf32>) -> tensor<15x64xf32> {
  %w = relay.constant dense<1.0> : tensor<4x64x16xf32>
  %y = relay.nn.contrib_dense_pack(%x, %w) {weight_layout = "NC16n"} : (tensor<15x64xf32>, tensor<4x64x16xf32>) -> tensor<15x64xf32>
  func.return %y : tensor<15x64xf32>
}

// SAYS: its sums have 65 terms, not an even number of at least 64
func.func @odd_terms(%x: tensor<16x65xf32>) -> tensor<16x64xf32> {
  %w = relay.constant dense<1.0> : tensor<4x65x16xf32>
  %y = relay.nn.contrib_dense_pack(%x, %w) {weight_layout = "NC16n"} : (tensor<16x65xf32>, tensor<4x65x16xf32>) -> tensor<16x64xf32>
  func.return %y : tensor<16x64xf32>
}

// The time to split the data is more than tiles save on few columns.
// SAYS: the product of f32 is about as fast
func.func @few_columns(%x: tensor<1024x64xf32>) -> tensor<1024x16xf32> {
  %w = relay.constant dense<1.0> : tensor<1x64x16xf32>
  %y = relay.nn.contrib_dense_pack(%x, %w) {weight_layout = "NC16n"} : (tensor<1024x64xf32>, tensor<1x64x16xf32>) -> tensor<1024x16xf32>
  func.return %y : tensor<1024x16xf32>
}

// SAYS: its weight is not constant
func.func @parameter(%x: tensor<16x64xf32>, %w: tensor<4x64x16xf32>) -> tensor<16x64xf32> {
  %y = relay.nn.contrib_dense_pack(%x, %w) {weight_layout = "NC16n"} : (tensor<16x64xf32>, tensor<4x64x16xf32>) -> tensor<16x64xf32>
  func.return %y : tensor<16x64xf32>
}

// SAYS: its weight is in NC8n, not in NC16n
func.func @other_block(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %w = relay.constant dense<1.0> : tensor<8x64x8xf32>
  %y = relay.nn.contrib_dense_pack(%x, %w) {weight_layout = "NC8n"} : (tensor<16x64xf32>, tensor<8x64x8xf32>) -> tensor<16x64xf32>
  func.return %y : tensor<16x64xf32>
}

// SAYS: its elements are not all f32
func.func @doubles(%x: tensor<16x64xf64>) -> tensor<16x64xf64> {
  %w = relay.constant dense<1.0> : tensor<4x64x16xf64>
  %y = relay.nn.contrib_dense_pack(%x, %w) {weight_layout = "NC16n"} : (tensor<16x64xf64>, tensor<4x64x16xf64>) -> tensor<16x64xf64>
  func.return %y : tensor<16x64xf64>
}

// A matrix that is computed at run time is packed and split; the first matrices of both products share their parts.
// CHECK-LABEL: func.func @matrices
// CHECK:         %[[P:.*]] = relay.nn.contrib_split_floats(%a)
// CHECK-NEXT:    %[[U:.*]] = relay.layout_transform(%b) {src_layout = "CN", dst_layout = "NC16n2c"} : (tensor<256x512xf32>) -> tensor<32x128x16x2xf32>
// CHECK-NEXT:    %[[V:.*]] = relay.nn.contrib_split_floats(%[[U]])
// CHECK-NEXT:    relay.nn.contrib_dense_split(%[[P]], %[[V]]) : (tensor<2x2x128x256xbf16>, tensor<2x32x128x16x2xbf16>) -> tensor<2x128x512xf32>
// CHECK-NEXT:    relay.layout_transform(%c) {src_layout = "NC", dst_layout = "NC16n2c"} : (tensor<512x256xf32>)
// CHECK:         relay.layout_transform(%c) {src_layout = "NC", dst_layout = "NC16n2c"} : (tensor<512x256xf32>)
func.func @matrices(%a: tensor<2x128x256xf32>, %b: tensor<256x512xf32>, %c: tensor<512x256xf32>) -> (tensor<2x128x512xf32>, tensor<2x128x512xf32>, tensor<2x128x512xf32>) {
  %0 = relay.nn.matmul(%a, %b) : (tensor<2x128x256xf32>, tensor<256x512xf32>) -> tensor<2x128x512xf32>
  %1 = relay.nn.matmul(%a, %c) {transpose_b = true} : (tensor<2x128x256xf32>, tensor<512x256xf32>) -> tensor<2x128x512xf32>
  %2 = relay.nn.dense(%a, %c) : (tensor<2x128x256xf32>, tensor<512x256xf32>) -> tensor<2x128x512xf32>
  func.return %0, %1, %2 : tensor<2x128x512xf32>, tensor<2x128x512xf32>, tensor<2x128x512xf32>
}

// SAYS: relay.nn.matmul: its first matrix is transposed
// SAYS: relay.nn.matmul: its second matrix is 256 x 500, not of static size with blocks of 16 columns
// SAYS: relay.nn.matmul: the product of f32 is about as fast
func.func @other_matrices(%a: tensor<256x128xf32>, %b: tensor<256x512xf32>, %c: tensor<128x256xf32>, %d: tensor<256x500xf32>, %e: tensor<32x256xf32>) -> (tensor<128x512xf32>, tensor<128x500xf32>, tensor<32x512xf32>) {
  %0 = relay.nn.matmul(%a, %b) {transpose_a = true} : (tensor<256x128xf32>, tensor<256x512xf32>) -> tensor<128x512xf32>
  %1 = relay.nn.matmul(%c, %d) : (tensor<128x256xf32>, tensor<256x500xf32>) -> tensor<128x500xf32>
  %2 = relay.nn.matmul(%e, %b) : (tensor<32x256xf32>, tensor<256x512xf32>) -> tensor<32x512xf32>
  func.return %0, %1, %2 : tensor<128x512xf32>, tensor<128x500xf32>, tensor<32x512xf32>
}

// The low parts of numbers of bf16 are zero.
// CHECK-LABEL: func.func @halves
// CHECK:         %[[W:.*]] = relay.cast(%{{.*}}) {dtype = bf16} : (tensor<4x64x16xf32>)
// CHECK-NEXT:    %[[V:.*]] = relay.layout_transform(%[[W]]) {src_layout = "NC16n", dst_layout = "NC16n2c"}
// CHECK-NEXT:    relay.nn.contrib_dense_pack(%x, %[[V]]) {{.*}}out_dtype = f32{{.*}} : (tensor<16x64xbf16>, tensor<4x32x16x2xbf16>) -> tensor<16x64xf32>
func.func @halves(%x: tensor<16x64xbf16>) -> tensor<16x64xf32> {
  %w = relay.constant dense<1.5> : tensor<4x64x16xf32>
  %a = relay.cast(%x) {dtype = f32} : (tensor<16x64xbf16>) -> tensor<16x64xf32>
  %y = relay.nn.contrib_dense_pack(%a, %w) {weight_layout = "NC16n"} : (tensor<16x64xf32>, tensor<4x64x16xf32>) -> tensor<16x64xf32>
  func.return %y : tensor<16x64xf32>
}

// The weight has other numbers, or the rows or steps do not fill a tile.
// CHECK-LABEL: func.func @not_halves
// CHECK-NOT:     relay.cast({{.*}}) {dtype = bf16}
func.func @not_halves(%x: tensor<16x64xbf16>, %z: tensor<15x64xbf16>, %u: tensor<16x74xbf16>) -> (tensor<16x64xf32>, tensor<15x64xf32>, tensor<16x64xf32>) {
  %w = relay.constant dense<1.1> : tensor<4x64x16xf32>
  %v = relay.constant dense<1.5> : tensor<4x64x16xf32>
  %t = relay.constant dense<1.5> : tensor<4x74x16xf32>
  %a = relay.cast(%x) {dtype = f32} : (tensor<16x64xbf16>) -> tensor<16x64xf32>
  %b = relay.cast(%z) {dtype = f32} : (tensor<15x64xbf16>) -> tensor<15x64xf32>
  %c = relay.cast(%u) {dtype = f32} : (tensor<16x74xbf16>) -> tensor<16x74xf32>
  %0 = relay.nn.contrib_dense_pack(%a, %w) {weight_layout = "NC16n"} : (tensor<16x64xf32>, tensor<4x64x16xf32>) -> tensor<16x64xf32>
  %1 = relay.nn.contrib_dense_pack(%b, %v) {weight_layout = "NC16n"} : (tensor<15x64xf32>, tensor<4x64x16xf32>) -> tensor<15x64xf32>
  %2 = relay.nn.contrib_dense_pack(%c, %t) {weight_layout = "NC16n"} : (tensor<16x74xf32>, tensor<4x74x16xf32>) -> tensor<16x64xf32>
  func.return %0, %1, %2 : tensor<16x64xf32>, tensor<15x64xf32>, tensor<16x64xf32>
}

// The pixels are rows: 49 are more than three tiles. A stride selects pixels.
// CHECK-LABEL: func.func @pixels
// CHECK-NOT:     stop_fusion
// CHECK:         %[[F:.*]] = relay.layout_transform(%w) {src_layout = "OIHW16i16o", dst_layout = "OIHW"}
// CHECK:         %[[M:.*]] = relay.reshape(%[[F]])
// CHECK:         relay.layout_transform(%[[M]]) {src_layout = "NC", dst_layout = "NC16n2c"}
// CHECK:         %[[T:.*]] = relay.layout_transform(%x) {src_layout = "NCHW16c", dst_layout = "NHWC"}
// CHECK:         %[[P:.*]] = relay.nn.contrib_split_floats(%[[T]])
// CHECK:         %[[R:.*]] = relay.reshape(%[[P]]) {{.*}} -> tensor<2x49x512xbf16>
// CHECK:         relay.nn.contrib_dense_split(%[[R]], {{.*}} -> tensor<49x512xf32>
// CHECK:         relay.layout_transform({{.*}}) {src_layout = "NHWC", dst_layout = "NCHW16c"}
// SAYS: relay.nn.conv2d: three products of bf16 parts
func.func @pixels(%x: tensor<1x32x7x7x16xf32>) -> tensor<1x32x7x7x16xf32> {
  %w = relay.constant dense<1.0> : tensor<32x32x1x1x16x16xf32>
  %y = relay.nn.conv2d(%x, %w) {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x32x7x7x16xf32>, tensor<32x32x1x1x16x16xf32>) -> tensor<1x32x7x7x16xf32>
  func.return %y : tensor<1x32x7x7x16xf32>
}

// CHECK-LABEL: func.func @stride
// CHECK:         relay.strided_slice({{.*}} -> tensor<1x7x7x512xf32>
// SAYS: relay.nn.conv2d: three products of bf16 parts
func.func @stride(%x: tensor<1x32x14x13x16xf32>) -> tensor<1x32x7x7x16xf32> {
  %w = relay.constant dense<1.0> : tensor<32x32x1x1x16x16xf32>
  %y = relay.nn.conv2d(%x, %w) {strides = [2, 2], data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x32x14x13x16xf32>, tensor<32x32x1x1x16x16xf32>) -> tensor<1x32x7x7x16xf32>
  func.return %y : tensor<1x32x7x7x16xf32>
}

// SAYS: only filters of 1 x 1 without padding and groups are a product of matrices
func.func @window(%x: tensor<1x4x9x9x16xf32>) -> tensor<1x4x7x7x16xf32> {
  %w = relay.constant dense<1.0> : tensor<4x4x3x3x16x16xf32>
  %y = relay.nn.conv2d(%x, %w) {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x4x9x9x16xf32>, tensor<4x4x3x3x16x16xf32>) -> tensor<1x4x7x7x16xf32>
  func.return %y : tensor<1x4x7x7x16xf32>
}

// The number of images may be dynamic. One image decides if it has no typical size: here its pixels are too few.
// CHECK-LABEL: func.func @any_images
// CHECK:         relay.reshape({{.*}} -> tensor<2x?x512xbf16, #relay.dims<49 * n>>
// CHECK:         relay.reshape({{.*}} -> tensor<?x7x7x512xf32, #relay.dims<n>>
// CHECK-LABEL: func.func @few_pixels
// CHECK-NOT:     contrib_dense_split
// SAYS: relay.nn.conv2d: three products of bf16 parts
// SAYS: relay.nn.conv2d: it has 9 rows, a tile has 16
func.func @any_images(%x: tensor<?x32x7x7x16xf32, #relay.dims<n>>) -> tensor<?x32x7x7x16xf32, #relay.dims<n>> {
  %w = relay.constant dense<1.0> : tensor<32x32x1x1x16x16xf32>
  %y = relay.nn.conv2d(%x, %w) {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<?x32x7x7x16xf32, #relay.dims<n>>, tensor<32x32x1x1x16x16xf32>) -> tensor<?x32x7x7x16xf32, #relay.dims<n>>
  func.return %y : tensor<?x32x7x7x16xf32, #relay.dims<n>>
}
func.func @few_pixels(%x: tensor<?x32x3x3x16xf32, #relay.dims<n>>) -> tensor<?x32x3x3x16xf32, #relay.dims<n>> {
  %w = relay.constant dense<1.0> : tensor<32x32x1x1x16x16xf32>
  %y = relay.nn.conv2d(%x, %w) {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<?x32x3x3x16xf32, #relay.dims<n>>, tensor<32x32x1x1x16x16xf32>) -> tensor<?x32x3x3x16xf32, #relay.dims<n>>
  func.return %y : tensor<?x32x3x3x16xf32, #relay.dims<n>>
}

// SAYS: the size of its image is not known
func.func @any_image(%x: tensor<1x32x?x7x16xf32, #relay.dims<h>>) -> tensor<1x32x?x7x16xf32, #relay.dims<h>> {
  %w = relay.constant dense<1.0> : tensor<32x32x1x1x16x16xf32>
  %y = relay.nn.conv2d(%x, %w) {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x32x?x7x16xf32, #relay.dims<h>>, tensor<32x32x1x1x16x16xf32>) -> tensor<1x32x?x7x16xf32, #relay.dims<h>>
  func.return %y : tensor<1x32x?x7x16xf32, #relay.dims<h>>
}

// SAYS: the product of f32 is about as fast
func.func @large_image(%x: tensor<1x4x56x56x16xf32>) -> tensor<1x16x56x56x16xf32> {
  %w = relay.constant dense<1.0> : tensor<16x4x1x1x16x16xf32>
  %y = relay.nn.conv2d(%x, %w) {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x4x56x56x16xf32>, tensor<16x4x1x1x16x16xf32>) -> tensor<1x16x56x56x16xf32>
  func.return %y : tensor<1x16x56x56x16xf32>
}

// The channels of a concatenation would be read one by one.
// CHECK-LABEL: func.func @concatenation
// CHECK:         %[[S:.*]] = relay.annotation.stop_fusion(%{{.*}})
// CHECK-NEXT:    relay.layout_transform(%[[S]]) {src_layout = "NCHW16c", dst_layout = "NHWC"}
func.func @concatenation(%x: tensor<1x16x7x7x16xf32>) -> tensor<1x32x7x7x16xf32> {
  %w = relay.constant dense<1.0> : tensor<32x32x1x1x16x16xf32>
  %t = relay.tuple(%x, %x) : (tensor<1x16x7x7x16xf32>, tensor<1x16x7x7x16xf32>) -> tuple<tensor<1x16x7x7x16xf32>, tensor<1x16x7x7x16xf32>>
  %c = relay.concatenate(%t) {axis = 1} : (tuple<tensor<1x16x7x7x16xf32>, tensor<1x16x7x7x16xf32>>) -> tensor<1x32x7x7x16xf32>
  %r = relay.nn.relu(%c) : (tensor<1x32x7x7x16xf32>) -> tensor<1x32x7x7x16xf32>
  %y = relay.nn.conv2d(%r, %w) {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"} : (tensor<1x32x7x7x16xf32>, tensor<32x32x1x1x16x16xf32>) -> tensor<1x32x7x7x16xf32>
  func.return %y : tensor<1x32x7x7x16xf32>
}

// The errors of small energies would be errors of their logarithms. The result of a softmax has no such errors.
// CHECK-LABEL: func.func @energies
// CHECK-NOT:     contrib_dense_split
// CHECK-LABEL: func.func @probabilities
// CHECK:         relay.nn.contrib_dense_split
// SAYS: relay.nn.dense: its result becomes the operand of a logarithm
// SAYS: relay.nn.dense: three products of bf16 parts
func.func @energies(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> tensor<512xf32> {
  %s = relay.nn.dense(%x, %w) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %p = relay.multiply(%s, %s) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %e = relay.sum(%p) {axis = [1]} : (tensor<512x512xf32>) -> tensor<512xf32>
  %y = relay.log(%e) : (tensor<512xf32>) -> tensor<512xf32>
  func.return %y : tensor<512xf32>
}
func.func @probabilities(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %s = relay.nn.dense(%x, %w) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %p = relay.nn.softmax(%s) : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %y = relay.log(%p) : (tensor<512x512xf32>) -> tensor<512x512xf32>
  func.return %y : tensor<512x512xf32>
}

// A batch without a typical number is one row in each iteration of a loop. Rows of other extents are not.
// SAYS: its matrices have 1 rows, a tile has 16
// SAYS: relay.nn.contrib_dense_pack: three products of bf16 parts
// SAYS: relay.nn.contrib_dense_pack: three products of bf16 parts
// CHECK-LABEL: func.func @steps
// CHECK:         relay.nn.contrib_dense_pack(%{{.*}}, %w) {weight_layout = "NC16n"} : (tensor<?x256xf32, #relay.dims<batch>>
// CHECK:         relay.nn.contrib_dense_split({{.*}} : (tensor<2x?x256xbf16, #relay.dims<time>>
// CHECK-LABEL: func.func @batches
// CHECK:         relay.nn.contrib_dense_split({{.*}} : (tensor<2x?x256xbf16, #relay.dims<batch>>
func.func @steps(%x: tensor<?x?x256xf32, #relay.dims<batch, time>>, %h: tensor<?x256xf32, #relay.dims<batch>>, %n: tensor<i64>) -> tuple<tensor<?x256xf32, #relay.dims<batch>>, tensor<?x256xf32, #relay.dims<time>>> {
  %w = relay.constant dense<1.0> : tensor<16x256x16xf32>
  %zeros = relay.constant dense<0> : tensor<i64>
  %t = relay.take(%x, %zeros) {axis = 0} : (tensor<?x?x256xf32, #relay.dims<batch, time>>, tensor<i64>) -> tensor<?x256xf32, #relay.dims<time>>
  %r = relay.loop(%i, %a = %h : tensor<?x256xf32, #relay.dims<batch>>, %b = %t : tensor<?x256xf32, #relay.dims<time>>) to %n : tensor<i64>
      -> tuple<tensor<?x256xf32, #relay.dims<batch>>, tensor<?x256xf32, #relay.dims<time>>> {
    %c = relay.nn.contrib_dense_pack(%a, %w) {weight_layout = "NC16n"} : (tensor<?x256xf32, #relay.dims<batch>>, tensor<16x256x16xf32>) -> tensor<?x256xf32, #relay.dims<batch>>
    %d = relay.nn.contrib_dense_pack(%b, %w) {weight_layout = "NC16n"} : (tensor<?x256xf32, #relay.dims<time>>, tensor<16x256x16xf32>) -> tensor<?x256xf32, #relay.dims<time>>
    %e = relay.tuple(%c, %d) : (tensor<?x256xf32, #relay.dims<batch>>, tensor<?x256xf32, #relay.dims<time>>) -> tuple<tensor<?x256xf32, #relay.dims<batch>>, tensor<?x256xf32, #relay.dims<time>>>
    relay.yield %e : tuple<tensor<?x256xf32, #relay.dims<batch>>, tensor<?x256xf32, #relay.dims<time>>>
  }
  func.return %r : tuple<tensor<?x256xf32, #relay.dims<batch>>, tensor<?x256xf32, #relay.dims<time>>>
}
func.func @batches(%h: tensor<?x256xf32, #relay.dims<batch>>, %n: tensor<i64>) -> tuple<tensor<?x256xf32, #relay.dims<batch>>> attributes {relay.sizes = {batch = array<i64: 1, 512, 128>}} {
  %w = relay.constant dense<1.0> : tensor<16x256x16xf32>
  %r = relay.loop(%i, %a = %h : tensor<?x256xf32, #relay.dims<batch>>) to %n : tensor<i64> -> tuple<tensor<?x256xf32, #relay.dims<batch>>> {
    %c = relay.nn.contrib_dense_pack(%a, %w) {weight_layout = "NC16n"} : (tensor<?x256xf32, #relay.dims<batch>>, tensor<16x256x16xf32>) -> tensor<?x256xf32, #relay.dims<batch>>
    %e = relay.tuple(%c) : (tensor<?x256xf32, #relay.dims<batch>>) -> tuple<tensor<?x256xf32, #relay.dims<batch>>>
    relay.yield %e : tuple<tensor<?x256xf32, #relay.dims<batch>>>
  }
  func.return %r : tuple<tensor<?x256xf32, #relay.dims<batch>>>
}
