// RUN: not xrelay-opt %s -p "relay-fuse-ops{max-depth=0}" 2>&1 | filecheck %s

// CHECK: max-depth is 0, it must be at least 1
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
