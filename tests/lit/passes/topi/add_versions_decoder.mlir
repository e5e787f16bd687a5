// RUN: xrelay-opt %s -p topi-expand-named,topi-add-versions | filecheck %s
// RUN: sed 's/p + s/p/g' %s | xrelay-opt -p topi-expand-named,topi-add-versions | filecheck %s --check-prefix=OTHER

// A decoder appends to a cache. Its products of a batch of positions have a version for 1 position.
// CHECK:     func.func private @split_s1(%x: tensor<2x?x1x4xbf16, #relay.dims<b>>, %w: tensor<2x1x2x16x2xbf16>) -> tensor<?x1x16xf32, #relay.dims<b>>
// CHECK-SAME:  loop.version = {of = @split, sizes = {s = 1 : i64}, reason = "a decoder mostly runs one position of each text: a product of b rows"}
// CHECK:     func.func private @plain_s1(
// CHECK-SAME:  sizes = {s = 1 : i64}

// Without a cache that grows, a batch of sequences has no version.
// OTHER-NOT: loop.version
func.func private @split(%x: tensor<2x?x?x4xbf16, #relay.dims<b, s>>, %w: tensor<2x1x2x16x2xbf16>) -> tensor<?x?x16xf32, #relay.dims<b, s>> attributes {relay.primitive} {
  %r = topi.matmul_split(%x, %w) : (tensor<2x?x?x4xbf16, #relay.dims<b, s>>, tensor<2x1x2x16x2xbf16>) -> tensor<?x?x16xf32, #relay.dims<b, s>>
  func.return %r : tensor<?x?x16xf32, #relay.dims<b, s>>
}
func.func private @plain(%x: tensor<?x?x4xf32, #relay.dims<b, s>>, %w: tensor<16x4xf32>) -> tensor<?x?x16xf32, #relay.dims<b, s>> attributes {relay.primitive} {
  %r = topi.matmul(%x, %w) : (tensor<?x?x4xf32, #relay.dims<b, s>>, tensor<16x4xf32>) -> tensor<?x?x16xf32, #relay.dims<b, s>>
  func.return %r : tensor<?x?x16xf32, #relay.dims<b, s>>
}
func.func @main(%x: tensor<2x?x?x4xbf16, #relay.dims<b, s>>, %w: tensor<2x1x2x16x2xbf16>, %y: tensor<?x?x4xf32, #relay.dims<b, s>>, %v: tensor<16x4xf32>,
    %past: tensor<?x2x?x8xf32, #relay.dims<b, p>>, %present: tensor<?x2x?x8xf32, #relay.dims<b, p + s>>)
    -> (tensor<?x?x16xf32, #relay.dims<b, s>>, tensor<?x?x16xf32, #relay.dims<b, s>>, tensor<?x2x?x8xf32, #relay.dims<b, p + s>>) {
  %0 = func.call @split(%x, %w) : (tensor<2x?x?x4xbf16, #relay.dims<b, s>>, tensor<2x1x2x16x2xbf16>) -> tensor<?x?x16xf32, #relay.dims<b, s>>
  %1 = func.call @plain(%y, %v) : (tensor<?x?x4xf32, #relay.dims<b, s>>, tensor<16x4xf32>) -> tensor<?x?x16xf32, #relay.dims<b, s>>
  func.return %0, %1, %present : tensor<?x?x16xf32, #relay.dims<b, s>>, tensor<?x?x16xf32, #relay.dims<b, s>>, tensor<?x2x?x8xf32, #relay.dims<b, p + s>>
}
