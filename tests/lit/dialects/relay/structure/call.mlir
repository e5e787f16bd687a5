// RUN: XRELAY_ROUNDTRIP | filecheck %s

func.func private @rows(tensor<?x?xf32, #relay.dims<n, k>>, tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n + k>>
func.func private @found(tensor<?xi1, #relay.dims<n>>) -> (tensor<?x1xi64, #relay.dims<j>>, tensor<?xi1, #relay.dims<n>>)

// CHECK-LABEL: @names(
func.func @names(%x: tensor<?x4xf32, #relay.dims<2 * m>>, %y: tensor<?xf32, #relay.dims<2 * m>>) {
  // CHECK: %r = relay.call @rows<n = 2 * m, k = 4>(%x, %y) : (tensor<?x4xf32, #relay.dims<2 * m>>, tensor<?xf32, #relay.dims<2 * m>>) -> tensor<?xf32, #relay.dims<2 * m + 4>>
  %r = relay.call @rows<n = 2 * m, k = 4>(%x, %y) : (tensor<?x4xf32, #relay.dims<2 * m>>, tensor<?xf32, #relay.dims<2 * m>>) -> tensor<?xf32, #relay.dims<2 * m + 4>>
  func.return
}

// A name that only the callee's results have is bound by the call.
// CHECK-LABEL: @made(
func.func @made(%x: tensor<7xi1>) {
  // CHECK: %r, %s = relay.call @found<n = 7, j = q>(%x) {relay.binds = #relay.bounds<q <= 7>} : (tensor<7xi1>) -> (tensor<?x1xi64, #relay.dims<q>>, tensor<7xi1>)
  %r, %s = relay.call @found<n = 7, j = q>(%x) {relay.binds = #relay.bounds<q <= 7>} : (tensor<7xi1>) -> (tensor<?x1xi64, #relay.dims<q>>, tensor<7xi1>)
  func.return
}

// An operand may have another extent than its parameter if the call requires that they are equal.
// CHECK-LABEL: @required(
func.func @required(%x: tensor<?x4xf32, #relay.dims<m>>, %y: tensor<?xf32, #relay.dims<p>>) {
  // CHECK: relay.call @rows<n = m, k = 4>(%x, %y) {relay.requires = #relay.requirements<m == p "C0 argument extent">} :
  %r = relay.call @rows<n = m, k = 4>(%x, %y) {relay.requires = #relay.requirements<m == p "C0 argument extent">} : (tensor<?x4xf32, #relay.dims<m>>, tensor<?xf32, #relay.dims<p>>) -> tensor<?xf32, #relay.dims<m + 4>>
  func.return
}

// Names that are not inferred yet.
// CHECK-LABEL: @open(
func.func @open(%x: tensor<3x4xf32>, %y: tensor<3xf32>) {
  // CHECK: %r = relay.call @rows(%x, %y) : (tensor<3x4xf32>, tensor<3xf32>) -> !relay.incomplete
  %r = relay.call @rows(%x, %y) : (tensor<3x4xf32>, tensor<3xf32>) -> !relay.incomplete
  func.return
}
