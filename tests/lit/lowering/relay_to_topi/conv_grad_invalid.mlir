// RUN: xrelay-opt %s -p convert-relay-to-topi --verify-diagnostics

// The padded data is there when the sum over it is refused: it is taken back with what was to read it.
func.func private @kernel(%g: tensor<?x1x7x7xi1, #relay.dims<n>>, %x: tensor<?x2x7x7xi1, #relay.dims<n>>)
    -> tensor<1x2x3x3xi1> attributes {relay.primitive} {
  // expected-error@below {{failed to convert relay.nn.conv2d_backward_weight: arithmetic on booleans}}
  %y = relay.nn.conv2d_backward_weight(%g, %x) {padding = [1, 1, 1, 1], kernel_size = [3, 3]}
    : (tensor<?x1x7x7xi1, #relay.dims<n>>, tensor<?x2x7x7xi1, #relay.dims<n>>) -> tensor<1x2x3x3xi1>
  func.return %y : tensor<1x2x3x3xi1>
}
