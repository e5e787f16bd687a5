// RUN: xrelay-opt %s -p convert-relay-to-topi --verify-diagnostics

// The sum over the padded data fails: the padding is erased with its reader.
func.func private @kernel(%g: tensor<?x1x7x7xi1, #relay.dims<n>>, %x: tensor<?x2x7x7xi1, #relay.dims<n>>)
    -> tensor<1x2x3x3xi1> attributes {relay.primitive} {
  // expected-error@below {{failed to convert relay.nn.conv2d_backward_weight: arithmetic on booleans}}
  %y = relay.nn.conv2d_backward_weight(%g, %x) {padding = [1, 1, 1, 1], kernel_size = [3, 3]}
    : (tensor<?x1x7x7xi1, #relay.dims<n>>, tensor<?x2x7x7xi1, #relay.dims<n>>) -> tensor<1x2x3x3xi1>
  func.return %y : tensor<1x2x3x3xi1>
}
