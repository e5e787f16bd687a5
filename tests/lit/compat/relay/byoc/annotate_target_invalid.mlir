// RUN: not xrelay-opt %s -p 'relay-annotate-target{targets=test ops="nn.relu"}' 2>&1 | filecheck %s --check-prefix=ENTRY
// RUN: not xrelay-opt %s -p 'relay-annotate-target{targets=test ops="test:nn.rely"}' 2>&1 | filecheck %s --check-prefix=OP

// ENTRY: 'nn.relu' {{.*}}; help: {{.*}}
// OP: nn.rely
// OP-SAME: nn.relu
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.nn.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
