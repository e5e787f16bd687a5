// RUN: xrelay-opt %s -p relay-narrow-products,relay-dead-code-elimination | filecheck %s
// RUN: xrelay-opt %s -p relay-narrow-products --remarks 2>&1 >/dev/null | filecheck %s --check-prefix SAYS

// The zero point moves after the product, times the sums of the weight.
// CHECK-LABEL: func.func @dense
// CHECK-NEXT:    %[[W:.*]] = relay.constant dense<{{\[\[}}1, 2, 3, 4], [-128, 127, 0, 0]]> : tensor<2x4xi8>
// CHECK-NEXT:    %[[P:.*]] = relay.nn.dense(%x, %[[W]]) {out_dtype = i32} : (tensor<3x4xui8>, tensor<2x4xi8>) -> tensor<3x2xi32>
// CHECK-NEXT:    %[[C:.*]] = relay.constant dense<[100, -10]> : tensor<2xi32>
// CHECK-NEXT:    %[[Y:.*]] = relay.subtract(%[[P]], %[[C]])
// CHECK-NEXT:    func.return %[[Y]]
func.func @dense(%x: tensor<3x4xui8>) -> tensor<3x2xi32> {
  %w = relay.constant dense<[[1, 2, 3, 4], [-128, 127, 0, 0]]> : tensor<2x4xi32>
  %z = relay.constant dense<10> : tensor<i32>
  %a = relay.cast(%x) {dtype = i32} : (tensor<3x4xui8>) -> tensor<3x4xi32>
  %b = relay.subtract(%a, %z) : (tensor<3x4xi32>, tensor<i32>) -> tensor<3x4xi32>
  %y = relay.nn.dense(%b, %w) : (tensor<3x4xi32>, tensor<2x4xi32>) -> tensor<3x2xi32>
  func.return %y : tensor<3x2xi32>
}

// A weight that is widened before the product is narrowed; signed data is shifted by 128, a sum of five terms is padded
// with three zeros, and a dynamic zero point is multiplied at run time.
// CHECK-LABEL: func.func @matmul
// CHECK:         %[[M:.*]] = relay.add(%{{.*}}, %{{.*}}) : (tensor<3x5xi16>, tensor<i16>) -> tensor<3x5xi16>
// CHECK:         %[[U:.*]] = relay.cast(%[[M]]) {dtype = ui8}
// CHECK:         %[[X:.*]] = relay.nn.pad(%[[U]], %{{.*}}) {pad_width = [0, 0, 0, 3]}
// CHECK:         %[[W:.*]] = relay.constant dense<{{\[\[}}0, -1, -1, -1, -1, 0, 0, 0], [-1, -1, -1, -1, 2, 0, 0, 0]]> : tensor<2x8xi8>
// CHECK:         %[[P:.*]] = relay.nn.dense(%[[X]], %[[W]]) {out_dtype = i32}
// CHECK:         %[[Z:.*]] = relay.add(%z, %{{.*}}) : (tensor<3x1xi32>, tensor<i32>) -> tensor<3x1xi32>
// CHECK:         %[[S:.*]] = relay.constant dense<[-4, -2]> : tensor<2xi32>
// CHECK:         %[[C:.*]] = relay.multiply(%[[Z]], %[[S]])
// CHECK:         relay.subtract(%[[P]], %[[C]])
func.func @matmul(%x: tensor<3x5xi8>, %z: tensor<3x1xi32>) -> tensor<3x2xi32> {
  %w = relay.constant dense<[[129, 128], [128, 128], [128, 128], [128, 128], [128, 131]]> : tensor<5x2xui8>
  %m = relay.constant dense<129> : tensor<i32>
  %v = relay.cast(%w) {dtype = i32} : (tensor<5x2xui8>) -> tensor<5x2xi32>
  %u = relay.subtract(%v, %m) : (tensor<5x2xi32>, tensor<i32>) -> tensor<5x2xi32>
  %a = relay.cast(%x) {dtype = i32} : (tensor<3x5xi8>) -> tensor<3x5xi32>
  %b = relay.subtract(%a, %z) : (tensor<3x5xi32>, tensor<3x1xi32>) -> tensor<3x5xi32>
  %y = relay.nn.matmul(%b, %u) : (tensor<3x5xi32>, tensor<5x2xi32>) -> tensor<3x2xi32>
  func.return %y : tensor<3x2xi32>
}

// A weight that fits into i8 after 15 is subtracted: 15 times the sums of the rows is added.
// CHECK-LABEL: func.func @rest
// CHECK:         %[[W:.*]] = relay.constant dense<{{\[\[}}-128, 127, -15, -15]]> : tensor<1x4xi8>
// CHECK:         %[[P:.*]] = relay.nn.dense(%x, %[[W]]) {out_dtype = i32}
// CHECK:         %[[R:.*]] = relay.sum(%{{.*}}) {axis = [-1], keepdims = true} : (tensor<3x4xi32>) -> tensor<3x1xi32>
// CHECK:         %[[N:.*]] = relay.constant dense<15> : tensor<i32>
// CHECK:         %[[M:.*]] = relay.multiply(%[[R]], %[[N]])
// CHECK:         relay.add(%[[P]], %[[M]])
func.func @rest(%x: tensor<3x4xui8>) -> tensor<3x1xi32> {
  %w = relay.constant dense<[[-113, 142, 0, 0]]> : tensor<1x4xi32>
  %a = relay.cast(%x) {dtype = i32} : (tensor<3x4xui8>) -> tensor<3x4xi32>
  %y = relay.nn.dense(%a, %w) : (tensor<3x4xi32>, tensor<1x4xi32>) -> tensor<3x1xi32>
  func.return %y : tensor<3x1xi32>
}

// The padding of a convolution is at distance 0 from the zero point.
// CHECK-LABEL: func.func @conv
// CHECK:         %[[Z:.*]] = relay.constant dense<7> : tensor<ui8>
// CHECK-NEXT:    %[[X:.*]] = relay.nn.pad(%x, %[[Z]]) {pad_width = [0, 0, 1, 2, 0, 0, 0, 1]}
// CHECK:         %[[P:.*]] = relay.nn.conv2d(%[[X]], %{{.*}}) {{{.*}}data_layout = "NHWC", kernel_layout = "HWIO", out_dtype = i32} : (tensor<1x7x4x4xui8>, tensor<2x2x4x2xi8>) -> tensor<1x6x3x2xi32>
// CHECK-NEXT:    %[[C:.*]] = relay.constant dense<84> : tensor<2xi32>
// CHECK-NEXT:    relay.subtract(%[[P]], %[[C]])
func.func @conv(%x: tensor<1x4x4x3xui8>) -> tensor<1x6x3x2xi32> {
  %w = relay.constant dense<1> : tensor<2x2x3x2xi32>
  %z = relay.constant dense<7> : tensor<i32>
  %a = relay.cast(%x) {dtype = i32} : (tensor<1x4x4x3xui8>) -> tensor<1x4x4x3xi32>
  %b = relay.subtract(%a, %z) : (tensor<1x4x4x3xi32>, tensor<i32>) -> tensor<1x4x4x3xi32>
  %y = relay.nn.conv2d(%b, %w) {padding = [1, 0, 2, 0], data_layout = "NHWC", kernel_layout = "HWIO"}
      : (tensor<1x4x4x3xi32>, tensor<2x2x3x2xi32>) -> tensor<1x6x3x2xi32>
  func.return %y : tensor<1x6x3x2xi32>
}

// Unchanged, each for a different reason.
// CHECK-LABEL: func.func @left
// CHECK-NOT:     out_dtype
// CHECK:         func.return
// SAYS: relay.nn.dense: its weight ranges from -1 to 255, which exceeds i8
// SAYS: relay.nn.dense: its data are neither bytes nor bytes minus a zero point
// SAYS: relay.nn.dense: its weight is not constant
// SAYS: relay.nn.dense: its zero point varies along the sum
func.func @left(%x: tensor<3x4xui8>, %i: tensor<3x4xi32>, %z: tensor<4xi32>) -> (tensor<3x2xi32>, tensor<3x2xi32>, tensor<3x3xi32>, tensor<3x2xi32>) {
  %wide = relay.constant dense<[[1, 1, 1, -1], [1, 1, 1, 255]]> : tensor<2x4xi32>
  %w = relay.constant dense<1> : tensor<2x4xi32>
  %a = relay.cast(%x) {dtype = i32} : (tensor<3x4xui8>) -> tensor<3x4xi32>
  %0 = relay.nn.dense(%a, %wide) : (tensor<3x4xi32>, tensor<2x4xi32>) -> tensor<3x2xi32>
  %1 = relay.nn.dense(%i, %w) : (tensor<3x4xi32>, tensor<2x4xi32>) -> tensor<3x2xi32>
  %2 = relay.nn.dense(%a, %i) : (tensor<3x4xi32>, tensor<3x4xi32>) -> tensor<3x3xi32>
  %b = relay.subtract(%a, %z) : (tensor<3x4xi32>, tensor<4xi32>) -> tensor<3x4xi32>
  %3 = relay.nn.dense(%b, %w) : (tensor<3x4xi32>, tensor<2x4xi32>) -> tensor<3x2xi32>
  func.return %0, %1, %2, %3 : tensor<3x2xi32>, tensor<3x2xi32>, tensor<3x3xi32>, tensor<3x2xi32>
}

// SAYS: relay.nn.dense: its zero point changes the shape of its data
// CHECK-LABEL: func.func @left_larger
// CHECK-NOT:     out_dtype
// CHECK:         func.return
func.func @left_larger(%x: tensor<3x4xui8>) -> tensor<1x3x2xi32> {
  %w = relay.constant dense<1> : tensor<2x4xi32>
  %z = relay.constant dense<1> : tensor<1x1x1xi32>
  %a = relay.cast(%x) {dtype = i32} : (tensor<3x4xui8>) -> tensor<3x4xi32>
  %b = relay.subtract(%a, %z) : (tensor<3x4xi32>, tensor<1x1x1xi32>) -> tensor<1x3x4xi32>
  %y = relay.nn.dense(%b, %w) : (tensor<1x3x4xi32>, tensor<2x4xi32>) -> tensor<1x3x2xi32>
  func.return %y : tensor<1x3x2xi32>
}

// SAYS: relay.nn.conv2d: its filters have one channel each
// SAYS: relay.nn.conv2d: the 6 channels of a group are not a multiple of 4
// SAYS: relay.nn.conv2d: its zero point is not one number
// SAYS: relay.nn.conv2d: it pads, and its zero point may exceed the data's type
// CHECK-LABEL: func.func @left_convolutions
// CHECK-NOT:     out_dtype
// CHECK:         func.return
func.func @left_convolutions(%x: tensor<1x12x4x4xui8>, %z: tensor<12x1x1xi32>, %one: tensor<i32>) -> (tensor<1x12x4x4xi32>, tensor<1x4x4x4xi32>, tensor<1x4x4x4xi32>, tensor<1x4x6x6xi32>) {
  %d = relay.constant dense<1> : tensor<12x1x1x1xi32>
  %g = relay.constant dense<1> : tensor<4x6x1x1xi32>
  %w = relay.constant dense<1> : tensor<4x12x1x1xi32>
  %a = relay.cast(%x) {dtype = i32} : (tensor<1x12x4x4xui8>) -> tensor<1x12x4x4xi32>
  %0 = relay.nn.conv2d(%a, %d) {groups = 12} : (tensor<1x12x4x4xi32>, tensor<12x1x1x1xi32>) -> tensor<1x12x4x4xi32>
  %1 = relay.nn.conv2d(%a, %g) {groups = 2} : (tensor<1x12x4x4xi32>, tensor<4x6x1x1xi32>) -> tensor<1x4x4x4xi32>
  %b = relay.subtract(%a, %z) : (tensor<1x12x4x4xi32>, tensor<12x1x1xi32>) -> tensor<1x12x4x4xi32>
  %2 = relay.nn.conv2d(%b, %w) : (tensor<1x12x4x4xi32>, tensor<4x12x1x1xi32>) -> tensor<1x4x4x4xi32>
  %c = relay.subtract(%a, %one) : (tensor<1x12x4x4xi32>, tensor<i32>) -> tensor<1x12x4x4xi32>
  %3 = relay.nn.conv2d(%c, %w) {padding = [1, 1]} : (tensor<1x12x4x4xi32>, tensor<4x12x1x1xi32>) -> tensor<1x4x6x6xi32>
  func.return %0, %1, %2, %3 : tensor<1x12x4x4xi32>, tensor<1x4x4x4xi32>, tensor<1x4x4x4xi32>, tensor<1x4x6x6xi32>
}

// A zero point known at run time pads the data, and is multiplied by the sums of the filters. 328 is split off the
// weight, and multiplied by the sums of the windows.
// CHECK-LABEL: func.func @dynamic
// CHECK:         %[[X:.*]] = relay.nn.pad(%x, %z) {pad_width = [0, 0, 0, 0, 1, 1]}
// CHECK:         %[[P:.*]] = relay.nn.conv1d(%[[X]], %{{.*}}) {out_dtype = i32} : (tensor<1x4x7xui8>, tensor<8x4x1xi8>) -> tensor<1x8x7xi32>
// CHECK:         %[[T:.*]] = relay.sum(%{{.*}}) {axis = [1], keepdims = true} : (tensor<1x4x7xi32>) -> tensor<1x1x7xi32>
// CHECK:         %[[W:.*]] = relay.nn.conv1d(%[[T]], %{{.*}}) {channels = 1, out_dtype = i32} : (tensor<1x1x7xi32>, tensor<1x1x1xi32>) -> tensor<1x1x7xi32>
// CHECK:         %[[R:.*]] = relay.multiply(%[[W]], %{{.*}})
// CHECK:         %[[S:.*]] = relay.add(%[[P]], %[[R]])
// CHECK:         %[[F:.*]] = relay.constant dense<800> : tensor<8x1xi32>
// CHECK:         %[[O:.*]] = relay.multiply(%{{.*}}, %[[F]])
// CHECK:         relay.subtract(%[[S]], %[[O]])
func.func @dynamic(%x: tensor<1x4x5xui8>, %z: tensor<ui8>) -> tensor<1x8x7xi32> {
  %w = relay.constant dense<200> : tensor<8x4x1xi32>
  %a = relay.cast(%x) {dtype = i32} : (tensor<1x4x5xui8>) -> tensor<1x4x5xi32>
  %wide = relay.cast(%z) {dtype = i32} : (tensor<ui8>) -> tensor<i32>
  %b = relay.subtract(%a, %wide) : (tensor<1x4x5xi32>, tensor<i32>) -> tensor<1x4x5xi32>
  %y = relay.nn.conv1d(%b, %w) {padding = [1, 1]} : (tensor<1x4x5xi32>, tensor<8x4x1xi32>) -> tensor<1x8x7xi32>
  func.return %y : tensor<1x8x7xi32>
}

// Bytes that are multiplied directly, or in 16 bits; signed ones are shifted by 128.
// CHECK-LABEL: func.func @as_bytes
// CHECK:         %[[U:.*]] = relay.cast(%{{.*}}) {dtype = ui8} : (tensor<3x4xi16>) -> tensor<3x4xui8>
// CHECK:         relay.nn.dense(%[[U]], %{{.*}}) {out_dtype = i32} : (tensor<3x4xui8>, tensor<1x4xi8>) -> tensor<3x1xi32>
// CHECK:         relay.constant dense<1280> : tensor<1xi32>
// CHECK:         relay.nn.dense(%x, %{{.*}}) {out_dtype = i32} : (tensor<3x4xui8>, tensor<1x4xi8>) -> tensor<3x1xi32>
// CHECK:         relay.constant dense<50> : tensor<1xi32>
func.func @as_bytes(%x: tensor<3x4xui8>, %s: tensor<3x4xi8>) -> (tensor<3x1xi32>, tensor<3x1xi32>) {
  %w = relay.constant dense<[[1, 2, 3, 4]]> : tensor<1x4xi8>
  %v = relay.constant dense<[[1, 2, 3, 4]]> : tensor<1x4xi16>
  %z = relay.constant dense<5> : tensor<i16>
  %0 = relay.nn.dense(%s, %w) {out_dtype = i32} : (tensor<3x4xi8>, tensor<1x4xi8>) -> tensor<3x1xi32>
  %a = relay.cast(%x) {dtype = i16} : (tensor<3x4xui8>) -> tensor<3x4xi16>
  %b = relay.subtract(%a, %z) : (tensor<3x4xi16>, tensor<i16>) -> tensor<3x4xi16>
  %1 = relay.nn.dense(%b, %v) {out_dtype = i32} : (tensor<3x4xi16>, tensor<1x4xi16>) -> tensor<3x1xi32>
  func.return %0, %1 : tensor<3x1xi32>, tensor<3x1xi32>
}

// ui8 by i8 stays if full instructions accumulate it, and is padded with zeros otherwise.
// CHECK-LABEL: func.func @done
// CHECK-NOT:     relay.nn.pad
// CHECK:         relay.nn.dense(%x, %{{.*}}) {out_dtype = i32} : (tensor<3x4xui8>, tensor<1x4xi8>)
// CHECK:         relay.nn.pad(%y, %{{.*}}) {pad_width = [0, 0, 0, 1]}
// CHECK:         relay.nn.dense(%{{.*}}, %{{.*}}) {out_dtype = i32} : (tensor<3x4xui8>, tensor<1x4xi8>)
// CHECK-NOT:     relay.subtract
func.func @done(%x: tensor<3x4xui8>, %y: tensor<3x3xui8>) -> (tensor<3x1xi32>, tensor<3x1xi32>) {
  %w = relay.constant dense<[[1, 2, 3, 4]]> : tensor<1x4xi8>
  %v = relay.constant dense<[[1, 2, 3]]> : tensor<1x3xi8>
  %0 = relay.nn.dense(%x, %w) {out_dtype = i32} : (tensor<3x4xui8>, tensor<1x4xi8>) -> tensor<3x1xi32>
  %1 = relay.nn.dense(%y, %v) {out_dtype = i32} : (tensor<3x3xui8>, tensor<1x3xi8>) -> tensor<3x1xi32>
  func.return %0, %1 : tensor<3x1xi32>, tensor<3x1xi32>
}

// Operands that wrap in 16 bits stay, and so do those interpreted as unsigned.
// CHECK-LABEL: func.func @wraps
// CHECK-NOT:     tensor<1x4xi8>
// SAYS: relay.nn.dense: its zero point is subtracted in i16, which may wrap
// SAYS: relay.nn.dense: its data are signed bytes, cast to the unsigned type ui16
func.func @wraps(%x: tensor<3x4xui8>, %s: tensor<3x4xi8>) -> (tensor<3x1xi32>, tensor<3x1xi32>) {
  %w = relay.constant dense<1> : tensor<1x4xi16>
  %v = relay.constant dense<1> : tensor<1x4xui16>
  %z = relay.constant dense<-32700> : tensor<i16>
  %a = relay.cast(%x) {dtype = i16} : (tensor<3x4xui8>) -> tensor<3x4xi16>
  %b = relay.subtract(%a, %z) : (tensor<3x4xi16>, tensor<i16>) -> tensor<3x4xi16>
  %0 = relay.nn.dense(%b, %w) {out_dtype = i32} : (tensor<3x4xi16>, tensor<1x4xi16>) -> tensor<3x1xi32>
  %c = relay.cast(%s) {dtype = ui16} : (tensor<3x4xi8>) -> tensor<3x4xui16>
  %1 = relay.nn.dense(%c, %v) {out_dtype = i32} : (tensor<3x4xui16>, tensor<1x4xui16>) -> tensor<3x1xi32>
  func.return %0, %1 : tensor<3x1xi32>, tensor<3x1xi32>
}

// Units are padded to whole vectors, and the padded results are cut off before the zero point is handled.
// CHECK-LABEL: func.func @units
// CHECK:         %[[P:.*]] = relay.nn.dense(%x, %{{.*}}) {out_dtype = i32} : (tensor<3x4xui8>, tensor<16x4xi8>) -> tensor<3x16xi32>
// CHECK-NEXT:    %[[S:.*]] = relay.strided_slice(%[[P]]) {begin = [0], end = [10], axes = [-1]}
// CHECK-NEXT:    %[[C:.*]] = relay.constant dense<40> : tensor<10xi32>
// CHECK-NEXT:    relay.subtract(%[[S]], %[[C]])
func.func @units(%x: tensor<3x4xui8>) -> tensor<3x10xi32> {
  %v = relay.constant dense<2> : tensor<10x4xi32>
  %z = relay.constant dense<5> : tensor<i32>
  %a = relay.cast(%x) {dtype = i32} : (tensor<3x4xui8>) -> tensor<3x4xi32>
  %b = relay.subtract(%a, %z) : (tensor<3x4xi32>, tensor<i32>) -> tensor<3x4xi32>
  %y = relay.nn.dense(%b, %v) : (tensor<3x4xi32>, tensor<10x4xi32>) -> tensor<3x10xi32>
  func.return %y : tensor<3x10xi32>
}

// Filters are padded, too, except in groups; for three filters, five more would be too many.
// CHECK-LABEL: func.func @filters
// CHECK:         %[[P:.*]] = relay.nn.conv2d(%x, %{{.*}}) {channels = 8, {{.*}}out_dtype = i32} : (tensor<1x4x5x5xui8>, tensor<8x4x1x1xi8>) -> tensor<1x8x5x5xi32>
// CHECK-NEXT:    relay.strided_slice(%[[P]]) {begin = [0], end = [6], axes = [1]}
// CHECK:         -> tensor<1x3x5x5xi32>
// CHECK-NOT:     relay.strided_slice
func.func @filters(%x: tensor<1x4x5x5xui8>) -> (tensor<1x6x5x5xi32>, tensor<1x3x5x5xi32>) {
  %v = relay.constant dense<2> : tensor<6x4x1x1xi32>
  %w = relay.constant dense<2> : tensor<3x4x1x1xi32>
  %a = relay.cast(%x) {dtype = i32} : (tensor<1x4x5x5xui8>) -> tensor<1x4x5x5xi32>
  %y = relay.nn.conv2d(%a, %v) {channels = 6, kernel_size = [1, 1]} : (tensor<1x4x5x5xi32>, tensor<6x4x1x1xi32>) -> tensor<1x6x5x5xi32>
  %z = relay.nn.conv2d(%a, %w) {channels = 3, kernel_size = [1, 1]} : (tensor<1x4x5x5xi32>, tensor<3x4x1x1xi32>) -> tensor<1x3x5x5xi32>
  func.return %y, %z : tensor<1x6x5x5xi32>, tensor<1x3x5x5xi32>
}

// A weight is looked up by a constant index, as the weights of a direction of an LSTM are.
// CHECK-LABEL: func.func @direction
// CHECK:         relay.nn.dense(%x, %{{.*}}) {out_dtype = i32} : (tensor<2x4xui8>, tensor<8x4xi8>) -> tensor<2x8xi32>
func.func @direction(%x: tensor<2x4xui8>) -> tensor<2x8xi32> {
  %w = relay.constant dense<3> : tensor<1x8x4xi8>
  %wide = relay.cast(%w) {dtype = i32} : (tensor<1x8x4xi8>) -> tensor<1x8x4xi32>
  %zero = relay.constant dense<0> : tensor<i64>
  %own = relay.take(%wide, %zero) {axis = 0} : (tensor<1x8x4xi32>, tensor<i64>) -> tensor<8x4xi32>
  %d = relay.cast(%x) {dtype = i32} : (tensor<2x4xui8>) -> tensor<2x4xi32>
  %y = relay.nn.matmul(%d, %own) {transpose_b = true} : (tensor<2x4xi32>, tensor<8x4xi32>) -> tensor<2x8xi32>
  func.return %y : tensor<2x8xi32>
}
