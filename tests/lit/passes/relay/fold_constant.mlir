// RUN: xrelay-opt %s -p relay-fold-constant | filecheck %s
// RUN: xrelay-opt %s -p "relay-fold-constant{max-growth=0}" | filecheck %s --check-prefix=SMALL

// A chain is evaluated as a whole.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT:    %[[K:.*]] = relay.constant dense<[6.000000e+00, 8.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    relay.add(%x, %[[K]])
func.func @chain(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %two = relay.constant dense<2.0> : tensor<f32>
  %b = relay.add(%a, %two) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %c = relay.multiply(%b, %two) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %d = relay.add(%x, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %d : tensor<2xf32>
}

// Tuples are folded, too; a constant result is returned directly.
// CHECK-LABEL: func.func @tuples
// CHECK-NEXT:    %[[K:.*]] = relay.constant dense<2.000000e+00> : tensor<1xf32>
// CHECK-NEXT:    func.return %[[K]]
func.func @tuples() -> tensor<1xf32> {
  %a = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %t = relay.split(%a) {indices_or_sections = 2} : (tensor<2xf32>) -> tuple<tensor<1xf32>, tensor<1xf32>>
  %b = relay.tuple_get_item(%t) {index = 1} : (tuple<tensor<1xf32>, tensor<1xf32>>) -> tensor<1xf32>
  func.return %b : tensor<1xf32>
}

// A weight keeps its name, with the history of its folding.
// CHECK-LABEL: func.func @weights
// CHECK-NEXT:    relay.constant #relay.weight<"w.OIHW8i8o", "{{.*}}"> : tensor<1x1x3x3x8x8xf32>
func.func @weights() -> tensor<1x1x3x3x8x8xf32> {
  %w = relay.constant dense<1.0> : tensor<8x8x3x3xf32>
  %p = relay.layout_transform(%w) {src_layout = "OIHW", dst_layout = "OIHW8i8o"} : (tensor<8x8x3x3xf32>) -> tensor<1x1x3x3x8x8xf32>
  func.return %p : tensor<1x1x3x3x8x8xf32>
}

// A branch uses outer constants.
// CHECK-LABEL: func.func @branch
// CHECK:         relay.if
// CHECK-NEXT:      %[[K:.*]] = relay.constant dense<4.000000e+00> : tensor<f32>
// CHECK-NEXT:      relay.yield %[[K]]
func.func @branch(%c: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %two = relay.constant dense<2.0> : tensor<f32>
  %r = relay.if %c : tensor<i1> -> tensor<f32> {
    %s = relay.add(%two, %two) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    relay.yield %s : tensor<f32>
  } else {
    relay.yield %x : tensor<f32>
  }
  func.return %r : tensor<f32>
}

// Rejected: missing bytes, results that are too large, the inside of kernels. A let of a constant is read through.
// CHECK-LABEL: func.func @refused
// CHECK:         relay.exp
// CHECK-NOT:     relay.let
// CHECK-NOT:     relay.abs
// SMALL-LABEL: func.func @grows
// SMALL:         relay.add
func.func @refused() -> (tensor<32xf32>, tensor<f32>) {
  %w = relay.constant #relay.weight<"elsewhere", "00"> : tensor<32xf32>
  %e = relay.exp(%w) : (tensor<32xf32>) -> tensor<32xf32>
  %k = relay.constant dense<2.0> : tensor<f32>
  %v = relay.let "v" = %k : tensor<f32>
  %a = relay.abs(%v) : (tensor<f32>) -> tensor<f32>
  func.return %e, %a : tensor<32xf32>, tensor<f32>
}

func.func @grows() -> tensor<8x8xf32> {
  %a = relay.constant dense<1.0> : tensor<8x1xf32>
  %b = relay.constant dense<1.0> : tensor<8xf32>
  %c = relay.add(%a, %b) : (tensor<8x1xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  func.return %c : tensor<8x8xf32>
}

// CHECK-LABEL: func.func private @kernel
// CHECK:         relay.abs
func.func private @kernel() -> tensor<f32> attributes {relay.primitive} {
  %k = relay.constant dense<2.0> : tensor<f32>
  %a = relay.abs(%k) : (tensor<f32>) -> tensor<f32>
  func.return %a : tensor<f32>
}

// The minimum integer by -1 wraps, as at run time. A division by zero stays, to fail if it runs.
// CHECK-LABEL: func.func @divisions
// CHECK-NOT:     relay.divide
// CHECK:         relay.constant dense<-128> : tensor<i8>
// CHECK:         relay.constant dense<-2> : tensor<i8>
// CHECK:         [[BY_ZERO:%.*]] = relay.divide
// CHECK-NOT:     relay.divide
// CHECK:         func.return {{%.*}}, {{%.*}}, [[BY_ZERO]]
func.func @divisions() -> (tensor<i8>, tensor<i8>, tensor<i8>) {
  %least = relay.constant dense<-128> : tensor<i8>
  %minus = relay.constant dense<-1> : tensor<i8>
  %q = relay.divide(%least, %minus) : (tensor<i8>, tensor<i8>) -> tensor<i8>
  %fifty = relay.constant dense<50> : tensor<i8>
  %h = relay.divide(%least, %fifty) : (tensor<i8>, tensor<i8>) -> tensor<i8>
  %zero = relay.constant dense<0> : tensor<i8>
  %z = relay.divide(%least, %zero) : (tensor<i8>, tensor<i8>) -> tensor<i8>
  func.return %q, %h, %z : tensor<i8>, tensor<i8>, tensor<i8>
}

// A field of a tuple folds to its operand, whatever the other fields, and through a let.
// CHECK-LABEL: func.func @fields
// CHECK-NEXT:    %[[K:.*]] = relay.constant dense<4.000000e+00> : tensor<f32>
// CHECK-NEXT:    %[[Y:.*]] = relay.add(%x, %[[K]])
// CHECK-NEXT:    func.return %[[Y]]
func.func @fields(%x: tensor<f32>) -> tensor<f32> {
  %k = relay.constant dense<2.0> : tensor<f32>
  %t = relay.tuple(%x, %k) : (tensor<f32>, tensor<f32>) -> tuple<tensor<f32>, tensor<f32>>
  %v = relay.let "t" = %t : tuple<tensor<f32>, tensor<f32>>
  %a = relay.tuple_get_item(%v) {index = 0} : (tuple<tensor<f32>, tensor<f32>>) -> tensor<f32>
  %b = relay.tuple_get_item(%v) {index = 1} : (tuple<tensor<f32>, tensor<f32>>) -> tensor<f32>
  %c = relay.add(%b, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %y = relay.add(%a, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %y : tensor<f32>
}

// A known condition selects its branch, whose result is then known too.
// CHECK-LABEL: func.func @known_branch
// CHECK-NEXT:    %[[N:.*]] = relay.negative(%x)
// CHECK-NEXT:    %[[K:.*]] = relay.constant dense<8.000000e+00> : tensor<f32>
// CHECK-NEXT:    %[[Y:.*]] = relay.add(%[[N]], %[[K]])
// CHECK-NEXT:    func.return %[[Y]]
func.func @known_branch(%x: tensor<f32>) -> tensor<f32> {
  %two = relay.constant dense<2.0> : tensor<f32>
  %three = relay.constant dense<3.0> : tensor<f32>
  %less = relay.less(%two, %three) : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %more = relay.less(%three, %two) : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %a = relay.if %less : tensor<i1> -> tensor<f32> {
    %p = relay.add(%two, %two) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %q = relay.if %more : tensor<i1> -> tensor<f32> {
      relay.yield %x : tensor<f32>
    } else {
      relay.yield %p : tensor<f32>
    }
    relay.yield %q : tensor<f32>
  } else {
    relay.yield %x : tensor<f32>
  }
  %b = relay.if %more : tensor<i1> -> tensor<f32> {
    relay.yield %x : tensor<f32>
  } else {
    %n = relay.negative(%x) : (tensor<f32>) -> tensor<f32>
    relay.yield %n : tensor<f32>
  }
  %d = relay.add(%a, %a) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %y = relay.add(%b, %d) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %y : tensor<f32>
}

// Indices are checked as at run time: an index out of range stays, to fail if it runs.
// CHECK-LABEL: func.func @indices
// CHECK-NOT:     relay.take
// CHECK-NOT:     relay.scatter_elements
// CHECK:         relay.constant dense<[3.000000e+00, 1.000000e+00]> : tensor<2xf32>
// CHECK:         relay.constant dense<[1.000000e+00, 2.000000e+00, 8.000000e+00]> : tensor<3xf32>
// CHECK:         [[OUTSIDE:%.*]] = relay.take
// CHECK:         func.return {{%.*}}, {{%.*}}, [[OUTSIDE]]
func.func @indices() -> (tensor<2xf32>, tensor<3xf32>, tensor<2xf32>) {
  %x = relay.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %i = relay.constant dense<[-1, 0]> : tensor<2xi64>
  %a = relay.take(%x, %i) {axis = 0, mode = "raise"} : (tensor<3xf32>, tensor<2xi64>) -> tensor<2xf32>
  %k = relay.constant dense<[2, 2]> : tensor<2xi64>
  %u = relay.constant dense<[1.0, 4.0]> : tensor<2xf32>
  %b = relay.scatter_elements(%x, %k, %u) {reduction = "add"} : (tensor<3xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<3xf32>
  %o = relay.constant dense<[0, 3]> : tensor<2xi64>
  %c = relay.take(%x, %o) {axis = 0, mode = "raise"} : (tensor<3xf32>, tensor<2xi64>) -> tensor<2xf32>
  func.return %a, %b, %c : tensor<2xf32>, tensor<3xf32>, tensor<2xf32>
}

// Requirements on names are left to run time, whatever their source.
// CHECK-LABEL: func.func @demands(
// CHECK:         relay.require(%c) {
func.func @demands(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<2xf32> {
  %c = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = relay.require(%c) {demands = #relay.requirements<n >= 2 "C1">, relay.requires = #relay.requirements<n >= 2 "C1">} : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// Names with other users stay bound.
// CHECK-LABEL: func.func @binds(
// CHECK:         relay.extents(%c) {
func.func @binds(%x: tensor<f32>) -> tensor<?xf32, #relay.dims<p>> {
  %c = relay.constant dense<3> : tensor<1xi64>
  %v = relay.extents(%c) {relay.binds = #relay.bounds<p>} : (tensor<1xi64>) -> tensor<1xi64>
  %0 = relay.dyn.full(%x, %v) : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32, #relay.dims<p>>
  func.return %0 : tensor<?xf32, #relay.dims<p>>
}

// The shape_of static extents is known, whatever the elements; values computed from it are folded.
// CHECK-LABEL: func.func @shape(
// CHECK-NEXT: %size = relay.constant dense<7> : tensor<i32>
// CHECK-NEXT: %open = relay.shape_of(%y) :
// CHECK-NEXT: %more = relay.constant dense<[3, 4]> : tensor<2xi64>
// CHECK-NEXT: func.return %more, %size, %open
func.func @shape(%x: tensor<2x3xf32>, %y: tensor<?xf32, #relay.dims<n>>, %z: tensor<7xf32>) -> (tensor<2xi64>, tensor<i32>, tensor<1xi64>) {
  %shape = relay.shape_of(%x) : (tensor<2x3xf32>) -> tensor<2xi64>
  %size = relay.ndarray_size(%z) {dtype = i32} : (tensor<7xf32>) -> tensor<i32>
  %open = relay.shape_of(%y) : (tensor<?xf32, #relay.dims<n>>) -> tensor<1xi64>
  %one = relay.constant dense<1> : tensor<i64>
  %more = relay.add(%shape, %one) : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
  func.return %more, %size, %open : tensor<2xi64>, tensor<i32>, tensor<1xi64>
}

// A sequence is no constant, also if its type is unknown, nor is a tuple with one.
// CHECK-LABEL: func.func @sequence_without_a_type(
func.func @sequence_without_a_type(%x: tensor<6x2xf32>) -> (!relay.incomplete, !relay.incomplete) {
  // CHECK-NEXT: relay.constant
  %one = relay.constant dense<1.0> : tensor<f32>
  // CHECK-NEXT: relay.sequence_empty
  %e = relay.sequence_empty() {of = tensor<?x2xf32>} : () -> !relay.incomplete
  %i = relay.sequence_insert(%e, %x) : (!relay.incomplete, tensor<6x2xf32>) -> !relay.incomplete
  // CHECK: relay.tuple
  %t = relay.tuple(%one, %one) : (tensor<f32>, tensor<f32>) -> !relay.incomplete
  func.return %i, %t : !relay.incomplete, !relay.incomplete
}

// The name of an extent is replaced by the constant's extent.
// CHECK-LABEL: func.func @extents(%x: tensor<4xf32>) -> tensor<7xf32>
// CHECK-NEXT:    %[[K:.*]] = relay.constant dense<0.000000e+00> : tensor<3xf32>
// CHECK-NEXT:    %[[T:.*]] = relay.tuple(%x, %[[K]]) : (tensor<4xf32>, tensor<3xf32>) -> tuple<tensor<4xf32>, tensor<3xf32>>
// CHECK-NEXT:    relay.concatenate(%[[T]]) : (tuple<tensor<4xf32>, tensor<3xf32>>) -> tensor<7xf32>
func.func @extents(%x: tensor<4xf32>) -> tensor<?xf32, #relay.dims<e + 4>> {
  %p = relay.constant dense<[2, 0, 3]> : tensor<3xi64>
  %zero = relay.constant dense<0.0> : tensor<f32>
  %most = relay.max(%p) {keepdims = true} : (tensor<3xi64>) -> tensor<1xi64>
  %z = relay.dyn.full(%zero, %most) {relay.binds = #relay.bounds<e>} : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32, #relay.dims<e>>
  %t = relay.tuple(%x, %z) : (tensor<4xf32>, tensor<?xf32, #relay.dims<e>>) -> tuple<tensor<4xf32>, tensor<?xf32, #relay.dims<e>>>
  %r = relay.concatenate(%t) : (tuple<tensor<4xf32>, tensor<?xf32, #relay.dims<e>>>) -> tensor<?xf32, #relay.dims<e + 4>>
  func.return %r : tensor<?xf32, #relay.dims<e + 4>>
}

// Each field of a tuple determines extents.
// CHECK-LABEL: func.func @extents_of_a_tuple(%x: tensor<2xf32>)
// CHECK-NEXT:    %[[K:.*]] = relay.constant dense<[4.000000e+00, 3.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    relay.multiply(%x, %[[K]]) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
func.func @extents_of_a_tuple(%x: tensor<2xf32>) -> tensor<2xf32> {
  %p = relay.constant dense<[2, 0, 1]> : tensor<3xi64>
  %d = relay.constant dense<[3.0, 1.0, 4.0]> : tensor<3xf32>
  %most = relay.max(%p) : (tensor<3xi64>) -> tensor<i64>
  %k = relay.dyn.topk(%d, %most) {relay.binds = #relay.bounds<k <= 3>} : (tensor<3xf32>, tensor<i64>) -> tuple<tensor<?xf32, #relay.dims<k>>, tensor<?xi32, #relay.dims<k>>>
  %v = relay.tuple_get_item(%k) {index = 0} : (tuple<tensor<?xf32, #relay.dims<k>>, tensor<?xi32, #relay.dims<k>>>) -> tensor<?xf32, #relay.dims<k>>
  %r = relay.multiply(%x, %v) {relay.requires = #relay.requirements<broadcastable(2, k) "C2 extents">} : (tensor<2xf32>, tensor<?xf32, #relay.dims<k>>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

// A tuple that is used as a whole becomes one of constants; of a tuple whose fields are taken each field is a constant.
// CHECK-LABEL: func.func @tuples_as_a_whole(
// CHECK-DAG:     %[[A:.*]] = relay.constant dense<1> : tensor<1xi32>
// CHECK-DAG:     %[[B:.*]] = relay.constant dense<2> : tensor<1xi32>
// CHECK:         %[[T:.*]] = relay.tuple(%[[A]], %[[B]]) : (tensor<1xi32>, tensor<1xi32>)
// CHECK-NOT:     relay.split
// CHECK:         relay.add(%x, %{{.*}}) : (tensor<1xi32>, tensor<1xi32>)
// CHECK-NEXT:    func.return %[[T]], %{{.*}}
func.func @tuples_as_a_whole(%x: tensor<1xi32>) -> (tuple<tensor<1xi32>, tensor<1xi32>>, tensor<1xi32>) {
  %c = relay.constant dense<[1, 2]> : tensor<2xi32>
  %d = relay.constant dense<[3, 4]> : tensor<2xi32>
  %0 = relay.split(%c) {indices_or_sections = 2, axis = 0} : (tensor<2xi32>) -> tuple<tensor<1xi32>, tensor<1xi32>>
  %1 = relay.split(%d) {indices_or_sections = 2, axis = 0} : (tensor<2xi32>) -> tuple<tensor<1xi32>, tensor<1xi32>>
  %2 = relay.tuple_get_item(%1) {index = 1} : (tuple<tensor<1xi32>, tensor<1xi32>>) -> tensor<1xi32>
  %3 = relay.add(%x, %2) : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
  func.return %0, %3 : tuple<tensor<1xi32>, tensor<1xi32>>, tensor<1xi32>
}
