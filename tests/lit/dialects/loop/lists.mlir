// RUN: XRELAY_ROUNDTRIP | filecheck %s

// CHECK-LABEL: @lists
func.func @lists(%x: memref<?x4xf32>, %n: index, %at: index, %y: memref<2xf32>) -> (!loop.list<!loop.list<f32>>, index) {
  // CHECK: %l = loop.list_empty : !loop.list<f32>
  %l = loop.list_empty : !loop.list<f32>
  // CHECK: %a = loop.list_insert %x[%n] in %l at %at : memref<?x4xf32> in !loop.list<f32>
  %a = loop.list_insert %x[%n] in %l at %at : memref<?x4xf32> in !loop.list<f32>
  // CHECK: %b = loop.list_insert %y[] in %a at %at : memref<2xf32> in !loop.list<f32>
  %b = loop.list_insert %y[] in %a at %at : memref<2xf32> in !loop.list<f32>
  // CHECK: %c = loop.list_erase %b at %at : !loop.list<f32>
  %c = loop.list_erase %b at %at : !loop.list<f32>
  // CHECK: %0 = loop.list_extents %c at %at : !loop.list<f32> -> index
  %0 = loop.list_extents %c at %at : !loop.list<f32> -> index
  // CHECK: loop.list_read %c at %at into %y : !loop.list<f32> into memref<2xf32>
  loop.list_read %c at %at into %y : !loop.list<f32> into memref<2xf32>
  // CHECK: loop.list_read_part %c at %at into %x[%n] from %at {axis = 1 : i64, drop} : !loop.list<f32> into memref<?x4xf32>
  loop.list_read_part %c at %at into %x[%n] from %at {axis = 1 : i64, drop} : !loop.list<f32> into memref<?x4xf32>
  // CHECK: %d = loop.list_insert_part %x[%n] from %at count %n in %c at %at {axis = 1 : i64} : memref<?x4xf32> in !loop.list<f32>
  %d = loop.list_insert_part %x[%n] from %at count %n in %c at %at {axis = 1 : i64} : memref<?x4xf32> in !loop.list<f32>
  // CHECK: %m = loop.list_length %c : !loop.list<f32>
  %m = loop.list_length %c : !loop.list<f32>
  %o = loop.list_empty : !loop.list<!loop.list<f32>>
  // CHECK: %p = loop.list_insert %c[] in %o at %at : !loop.list<f32> in !loop.list<!loop.list<f32>>
  %p = loop.list_insert %c[] in %o at %at : !loop.list<f32> in !loop.list<!loop.list<f32>>
  // CHECK: %q = loop.list_at %p at %at : !loop.list<!loop.list<f32>> -> !loop.list<f32>
  %q = loop.list_at %p at %at : !loop.list<!loop.list<f32>> -> !loop.list<f32>
  // A list of values of any type.
  %e = loop.list_empty : !loop.list<none>
  // CHECK: %f = loop.list_insert %y[] in %e at %at : memref<2xf32> in !loop.list<none>
  %f = loop.list_insert %y[] in %e at %at : memref<2xf32> in !loop.list<none>
  // CHECK: %g = loop.list_insert %p[] in %f at %at : !loop.list<!loop.list<f32>> in !loop.list<none>
  %g = loop.list_insert %p[] in %f at %at : !loop.list<!loop.list<f32>> in !loop.list<none>
  // CHECK: %h = loop.list_at %g at %at : !loop.list<none> -> !loop.list<!loop.list<f32>>
  %h = loop.list_at %g at %at : !loop.list<none> -> !loop.list<!loop.list<f32>>
  func.return %p, %m : !loop.list<!loop.list<f32>>, index
}
