// RUN: xrelay-opt %s -p relay-to-mixed-precision | filecheck %s
// RUN: xrelay-opt %s -p 'relay-to-mixed-precision{keep-orig-output-dtype=true mixed-precision-type=bfloat16}' | filecheck %s --check-prefix=KEEP
// RUN: xrelay-opt %s --pass-config relay.ToMixedPrecision.keep_orig_output_dtype=true -p relay-to-mixed-precision | filecheck %s --check-prefix=CONFIG

// A product always, a rectifier after it; the softmax gets f32 again, and the addend of its result the same cast.
// CHECK-LABEL: @categories(
// CHECK:         %[[X:.*]] = relay.cast(%x) {dtype = f16}
// CHECK-NEXT:    %[[W:.*]] = relay.cast(%w) {dtype = f16}
// CHECK-NEXT:    %a = relay.nn.dense(%[[X]], %[[W]]) {out_dtype = f16} : (tensor<1x8xf16>, tensor<4x8xf16>) -> tensor<1x4xf16>
// CHECK-NEXT:    %b = relay.nn.relu(%a) : (tensor<1x4xf16>) -> tensor<1x4xf16>
// CHECK-NEXT:    %[[B:.*]] = relay.cast(%b) {dtype = f32}
// CHECK-NEXT:    %c = relay.nn.softmax(%[[B]]) : (tensor<1x4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT:    relay.add(%c, %[[B]]) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
func.func @categories(%x: tensor<1x8xf32>, %w: tensor<4x8xf32>) -> tensor<1x4xf32> {
  %a = relay.nn.dense(%x, %w) {out_dtype = f32} : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<1x4xf32>
  %b = relay.nn.relu(%a) : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %c = relay.nn.softmax(%b) : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %d = relay.add(%c, %b) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  func.return %d : tensor<1x4xf32>
}

// Parameters are cast for an op that follows, integers are ignored; the result has its computed type.
// CHECK-LABEL: @follows_parameters(
// CHECK-SAME:    -> tensor<2x8xf16>
// CHECK:         %[[X:.*]] = relay.cast(%x) {dtype = f16}
// CHECK-NEXT:    relay.take(%[[X]], %i) {axis = 0} : (tensor<5x8xf16>, tensor<2xi32>) -> tensor<2x8xf16>
// KEEP-LABEL:  @follows_parameters(
// KEEP-SAME:     -> tensor<2x8xf32>
// KEEP:          %[[Y:.*]] = relay.take({{.*}}) {axis = 0} : (tensor<5x8xbf16>, tensor<2xi32>) -> tensor<2x8xbf16>
// KEEP-NEXT:     %[[Z:.*]] = relay.cast(%[[Y]]) {dtype = f32}
// KEEP-NEXT:     func.return %[[Z]]
// CONFIG-LABEL: @follows_parameters(
// CONFIG-SAME:   -> tensor<2x8xf32>
func.func @follows_parameters(%x: tensor<5x8xf32>, %i: tensor<2xi32>) -> tensor<2x8xf32> {
  %y = relay.take(%x, %i) {axis = 0} : (tensor<5x8xf32>, tensor<2xi32>) -> tensor<2x8xf32>
  func.return %y : tensor<2x8xf32>
}

// A value computed in f32 is not cast for an op that follows.
// CHECK-LABEL: @follows_what_was_computed(
// CHECK:         relay.exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT:    relay.add({{.*}}) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
func.func @follows_what_was_computed(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = relay.exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %b = relay.add(%a, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %b : tensor<8xf32>
}

// Ops that create a tensor create it in the mixed type; fields of a tuple are cast separately.
// CHECK-LABEL: @tuples(
// CHECK:         %z = relay.zeros() {{{.*}}dtype = f16{{.*}}} : () -> tensor<2x3xf16>
// CHECK:         %[[T:.*]] = relay.tuple(%z, %{{.*}}) : (tensor<2x3xf16>, tensor<2x3xf16>)
// CHECK-NEXT:    %c = relay.concatenate(%[[T]]) {{.*}} -> tensor<4x3xf16>
// CHECK-NEXT:    %[[C:.*]] = relay.cast(%c) {dtype = f32}
// CHECK-NEXT:    relay.sum(%[[C]])
func.func @tuples(%x: tensor<2x3xf32>) -> tensor<f32> {
  %z = relay.zeros() {shape = [2, 3]} : () -> tensor<2x3xf32>
  %t = relay.tuple(%z, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tuple<tensor<2x3xf32>, tensor<2x3xf32>>
  %c = relay.concatenate(%t) {axis = 0} : (tuple<tensor<2x3xf32>, tensor<2x3xf32>>) -> tensor<4x3xf32>
  %s = relay.sum(%c) : (tensor<4x3xf32>) -> tensor<f32>
  func.return %s : tensor<f32>
}

// An op's tuple result is taken apart.
// CHECK-LABEL: @tuple_that_was_made(
// CHECK:         %t = relay.split({{.*}}) {{.*}} -> tuple<tensor<2xf16>, tensor<2xf16>>
// CHECK:         %[[A:.*]] = relay.tuple_get_item(%t) {index = 0} : {{.*}} -> tensor<2xf16>
// CHECK:         %[[B:.*]] = relay.tuple_get_item(%t) {index = 1} : {{.*}} -> tensor<2xf16>
// CHECK-NEXT:    relay.cast(%[[A]]) {dtype = f32}
// CHECK-NEXT:    relay.cast(%[[B]]) {dtype = f32}
// CHECK:         relay.yield %{{.*}} : tuple<tensor<2xf32>, tensor<2xf32>>
func.func @tuple_that_was_made(%x: tensor<4xf32>, %p: tensor<i1>) -> tuple<tensor<2xf32>, tensor<2xf32>> {
  %t = relay.split(%x) {indices_or_sections = 2} : (tensor<4xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  %r = relay.if %p : tensor<i1> -> tuple<tensor<2xf32>, tensor<2xf32>> {
    relay.yield %t : tuple<tensor<2xf32>, tensor<2xf32>>
  } else {
    relay.yield %t : tuple<tensor<2xf32>, tensor<2xf32>>
  }
  func.return %r : tuple<tensor<2xf32>, tensor<2xf32>>
}

// A branch result has its own type; a cast that one branch needs is in it. Names of extents are kept.
// CHECK-LABEL: @branches(
// CHECK:         %a = relay.nn.relu({{.*}}) : (tensor<?xf16, #relay.dims<n>>) -> tensor<?xf16, #relay.dims<n>>
// CHECK-NEXT:    relay.if %p : tensor<i1> -> tensor<?xf32, #relay.dims<n>> {
// CHECK-NEXT:      %[[A:.*]] = relay.cast(%a) {dtype = f32}
// CHECK-NEXT:      relay.yield %[[A]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      relay.yield %x
func.func @branches(%x: tensor<?xf32, #relay.dims<n>>, %p: tensor<i1>) -> tensor<?xf32, #relay.dims<n>> {
  %a = relay.nn.relu(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>>
  %r = relay.if %p : tensor<i1> -> tensor<?xf32, #relay.dims<n>> {
    relay.yield %a : tensor<?xf32, #relay.dims<n>>
  } else {
    relay.yield %x : tensor<?xf32, #relay.dims<n>>
  }
  func.return %r : tensor<?xf32, #relay.dims<n>>
}

// The signature of a called function is kept.
// CHECK-LABEL: @called(
// CHECK-SAME:    -> tensor<2xf32>
// CHECK:         relay.nn.relu({{.*}}) : (tensor<2xf16>) -> tensor<2xf16>
// CHECK-NEXT:    relay.cast({{.*}}) {dtype = f32}
func.func private @called(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = relay.nn.relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %a : tensor<2xf32>
}

// CHECK-LABEL: @calls(
// CHECK:         %[[N:.*]] = relay.negative({{.*}}) -> tensor<2xf16>
// CHECK-NEXT:    %[[C:.*]] = relay.cast(%[[N]]) {dtype = f32}
// CHECK-NEXT:    func.call @called(%[[C]]) : (tensor<2xf32>) -> tensor<2xf32>
func.func @calls(%x: tensor<2xf32>) -> tensor<2xf32> {
  %n = relay.negative(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %a = func.call @called(%n) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %a : tensor<2xf32>
}

// CHECK-LABEL: @bound(
// CHECK:         %v = relay.let "v" = %{{.*}} : tensor<1x4xf16>
// CHECK-NEXT:    relay.add(%v, %v) : (tensor<1x4xf16>, tensor<1x4xf16>) -> tensor<1x4xf16>
func.func @bound(%x: tensor<1x8xf32>, %w: tensor<4x8xf32>) -> tensor<1x4xf32> {
  %a = relay.nn.dense(%x, %w) : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<1x4xf32>
  %v = relay.let "v" = %a : tensor<1x4xf32>
  %b = relay.add(%v, %v) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  func.return %b : tensor<1x4xf32>
}

// CHECK-LABEL: @other_types(
// CHECK-NEXT:    relay.nn.dense(%x, %x) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
// CHECK-NEXT:    relay.add(%i, %i) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
// CHECK-NEXT:    relay.cast(%i) {dtype = f32} : (tensor<2xi32>) -> tensor<2xf32>
// CHECK-NEXT:    func.return
func.func @other_types(%x: tensor<2x2xf64>, %i: tensor<2xi32>) -> (tensor<2x2xf64>, tensor<2xi32>, tensor<2xf32>) {
  %a = relay.nn.dense(%x, %x) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  %b = relay.add(%i, %i) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %c = relay.cast(%i) {dtype = f32} : (tensor<2xi32>) -> tensor<2xf32>
  func.return %a, %b, %c : tensor<2x2xf64>, tensor<2xi32>, tensor<2xf32>
}

// CHECK-LABEL: @kernel(
// CHECK-NEXT:    relay.nn.relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
func.func private @kernel(%x: tensor<2xf32>) -> tensor<2xf32> attributes {relay.primitive} {
  %a = relay.nn.relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %a : tensor<2xf32>
}

// A bound that would be infinite in 16 bits stays f32; an infinite bound does not limit either type.
// CHECK-LABEL: @bounds(
// CHECK:         %[[NARROW:.*]] = relay.clip(%{{.*}}) {a_min = -6.0, a_max = 6.0} : (tensor<2xf16>)
// CHECK:         %[[OPEN:.*]] = relay.clip(%[[NARROW]]) {a_min = 0.0, a_max = {{.*}}} : (tensor<2xf16>)
// CHECK:         relay.cast(%[[OPEN]]) {dtype = f32}
// CHECK:         relay.clip(%{{.*}}) {a_min = -128000.0, a_max = 128000.0} : (tensor<2xf32>)
func.func @bounds(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = relay.clip(%x) {a_min = -6.0, a_max = 6.0} : (tensor<2xf32>) -> tensor<2xf32>
  %b = relay.clip(%a) {a_min = 0.0, a_max = 0x7FF0000000000000 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  %c = relay.clip(%b) {a_min = -128000.0, a_max = 128000.0} : (tensor<2xf32>) -> tensor<2xf32>
  func.return %c : tensor<2xf32>
}

// A result without an inferred type is unknown.
// CHECK-LABEL: @not_inferred(
// CHECK-NEXT:    relay.nn.dense(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> !relay.incomplete
func.func @not_inferred(%x: tensor<2x2xf32>) -> !relay.incomplete {
  %a = relay.nn.dense(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> !relay.incomplete
  func.return %a : !relay.incomplete
}

// Each field of a result has its own element type.
// CHECK-LABEL: @fields(
// CHECK:         relay.topk({{.*}}) {k = 2} : (tensor<4xf16>) -> tuple<tensor<2xf16>, tensor<2xi32>>
func.func @fields(%x: tensor<4xf32>) -> tuple<tensor<2xf32>, tensor<2xi32>> {
  %a = relay.topk(%x) {k = 2} : (tensor<4xf32>) -> tuple<tensor<2xf32>, tensor<2xi32>>
  func.return %a : tuple<tensor<2xf32>, tensor<2xi32>>
}
