func.func private @double(%a: memref<?x8xf32> {loop.extents = array<i64: 0>}, %b: memref<?x8xf32> {loop.extents = array<i64: 0>}, %n: index) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to %n {
    loop.for "j" %j to 8 {
      %v = loop.load %a[%i, %j] : memref<?x8xf32>
      %w = arith.addf %v, %v : f32
      loop.store %w, %b[%i, %j] : memref<?x8xf32>
    }
  }
  func.return
}
func.func @main(%x: memref<?x8xf32> {loop.dims = #relay.dims<n>}, %y: memref<?x8xf32> {relay.name = "y", loop.dims = #relay.dims<n>}, %n: index {xrelay.dim = "n"}) attributes {loop.num_outputs = 1 : i64} {
  %most = arith.constant 9 : index
  %ok = arith.cmpi sge, %most, %n : index
  cf.assert %ok, "9 >= n" {relay.requires = #relay.requirements<9 >= n>}
  func.call @double(%x, %y, %n) : (memref<?x8xf32>, memref<?x8xf32>, index) -> ()
  func.return
}
