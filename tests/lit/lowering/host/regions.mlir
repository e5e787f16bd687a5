// RUN: xrelay-opt %s -p convert-topi-to-loop | filecheck %s

// Each branch computes into the buffers of the results, and copies values that it does not compute.
// CHECK-LABEL: func.func @branches
// CHECK-SAME:    %c: memref<i1>, %x: memref<4xf32>, %[[A:.*]]: memref<4xf32>, %[[B:.*]]: memref<4xf32>)
// CHECK-NEXT:    %[[C:.*]] = memref.load %c[]
// CHECK-NEXT:    scf.if %[[C]] {
// CHECK-NEXT:      func.call @k(%x, %[[A]])
// CHECK-NEXT:      func.call @copy(%x, %[[B]])
// CHECK-NEXT:    } else {
// CHECK-NEXT:      func.call @k(%x, %[[B]])
// CHECK-NEXT:      func.call @copy(%x, %[[A]])
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
func.func @branches(%c: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %r = relay.if %c : tensor<i1> -> tuple<tensor<4xf32>, tensor<4xf32>> {
    %a = func.call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %t = relay.tuple(%a, %x) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
    relay.yield %t : tuple<tensor<4xf32>, tensor<4xf32>>
  } else {
    %b = func.call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %t = relay.tuple(%x, %b) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
    relay.yield %t : tuple<tensor<4xf32>, tensor<4xf32>>
  }
  %p = relay.tuple_get_item(%r) {index = 0} : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %q = relay.tuple_get_item(%r) {index = 1} : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  func.return %p, %q : tensor<4xf32>, tensor<4xf32>
}

// A carried value from outside of the body has one buffer; swapped values are saved first; a stack is filled by rows.
// CHECK-LABEL: func.func @loop
// CHECK-SAME:    %n: memref<i64>, %g: memref<i1>, %x: memref<4xf32>, %y: memref<4xf32>, %[[A:.*]]: memref<4xf32>, %[[S:.*]]: memref<2x4xf32>)
// CHECK-NEXT:    %[[B:.*]] = memref.alloc() : memref<4xf32>
// CHECK:         %[[N:.*]] = memref.load %n[]
// CHECK-NEXT:    %[[LIMIT:.*]] = arith.index_cast %[[N]] : i64 to index
// CHECK-NEXT:    func.call @copy(%x, %[[A]])
// CHECK-NEXT:    func.call @copy(%y, %[[B]])
// CHECK-NEXT:    %goes_on = memref.alloc() : memref<i1>
// CHECK:         scf.while (%[[I:.*]] = %{{.*}}) : (index) -> index {
// CHECK-NEXT:      %[[MORE:.*]] = arith.cmpi slt, %[[I]], %[[LIMIT]]
// CHECK-NEXT:      %[[HOLDS:.*]] = memref.load %goes_on[]
// CHECK-NEXT:      %[[BOTH:.*]] = arith.andi %[[MORE]], %[[HOLDS]]
// CHECK-NEXT:      scf.condition(%[[BOTH]]) %[[I]]
// CHECK:         } do {
// CHECK:           func.call @k(%[[A]], %[[K:[a-z0-9]*]])
// CHECK:           %[[ROW:.*]] = memref.subview %[[S]][%{{.*}}, 0] [1, 4] [1, 1] : memref<2x4xf32> to memref<4xf32, strided<[1], offset: ?>>
// CHECK-NEXT:      "memref.copy"(%[[K]], %[[ROW]])
// CHECK:           func.call @copy(%[[B]], %[[T:[a-z0-9]*]])
// CHECK:           func.call @copy(%[[A]], %[[U:[a-z0-9]*]])
// CHECK-NEXT:      func.call @copy(%[[T]], %[[A]])
// CHECK-NEXT:      func.call @copy(%[[U]], %[[B]])
// CHECK:           memref.store %{{.*}}, %goes_on[]
// CHECK:           scf.yield
func.func @loop(%n: tensor<i64>, %g: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x4xf32>) {
  %r = relay.loop(%i, %a = %x : tensor<4xf32>, %b = %y : tensor<4xf32>) to %n : tensor<i64> while %g : tensor<i1> -> tuple<tensor<4xf32>, tensor<4xf32>, tensor<2x4xf32>> {
    %k = func.call @k(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %t = relay.tuple(%g, %b, %a, %k) : (tensor<i1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<i1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>>
    relay.yield %t : tuple<tensor<i1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>>
  }
  %p = relay.tuple_get_item(%r) {index = 0} : (tuple<tensor<4xf32>, tensor<4xf32>, tensor<2x4xf32>>) -> tensor<4xf32>
  %q = relay.tuple_get_item(%r) {index = 2} : (tuple<tensor<4xf32>, tensor<4xf32>, tensor<2x4xf32>>) -> tensor<2x4xf32>
  func.return %p, %q : tensor<4xf32>, tensor<2x4xf32>
}

// A carried value that the body computes has two alternating buffers, such that the last iteration writes the result.
// CHECK-LABEL: func.func @turns
// CHECK-SAME:    %n: memref<i64>, %x: memref<4xf32>, %[[A:.*]]: memref<4xf32>)
// CHECK:         %[[N:.*]] = arith.index_cast
// CHECK-NEXT:    %[[B:.*]] = memref.alloc() : memref<4xf32>
// CHECK:         %[[COUNT:.*]] = arith.maxsi %[[N]], %{{.*}} : index
// CHECK:         %[[LEFT:.*]] = arith.subi %[[COUNT]], %{{.*}} : index
// CHECK:         %[[BIT:.*]] = arith.andi %[[LEFT]], %{{.*}} : index
// CHECK:         %[[ODD:.*]] = arith.cmpi ne, %[[BIT]], %{{.*}} : index
// CHECK-NEXT:    %[[FIRST:.*]] = arith.select %[[ODD]], %[[B]], %[[A]] : memref<4xf32>
// CHECK:         func.call @copy(%x, %[[FIRST]])
// CHECK:         scf.while
// CHECK:           arith.subi %[[COUNT]], %{{.*}} : index
// CHECK:           %[[NOW:.*]] = arith.select %[[IS:.*]], %[[B]], %[[A]] : memref<4xf32>
// CHECK-NEXT:      %[[NEXT:.*]] = arith.select %[[IS]], %[[A]], %[[B]] : memref<4xf32>
// CHECK-NEXT:      func.call @k(%[[NOW]], %[[NEXT]])
// CHECK-NOT:       copy
// CHECK:         func.return
func.func @turns(%n: tensor<i64>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = relay.loop(%i, %a = %x : tensor<4xf32>) to %n : tensor<i64> -> tuple<tensor<4xf32>> {
    %k = func.call @k(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %t = relay.tuple(%k) : (tensor<4xf32>) -> tuple<tensor<4xf32>>
    relay.yield %t : tuple<tensor<4xf32>>
  }
  %p = relay.tuple_get_item(%r) {index = 0} : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  func.return %p : tensor<4xf32>
}

// If a condition ends the loop, the number of iterations determines the last buffer; one copy moves it to the result.
// CHECK-LABEL: func.func @until
// CHECK-SAME:    %g: memref<i1>, %x: memref<4xf32>, %[[A:.*]]: memref<4xf32>, %[[Z:.*]]: memref<4xf32>)
// CHECK:         %[[END:.*]] = scf.while
// CHECK:         %[[BIT:.*]] = arith.andi %[[END]], %{{.*}} : index
// CHECK:         %[[ODD:.*]] = arith.cmpi ne, %[[BIT]], %{{.*}} : index
// CHECK-NEXT:    scf.if %[[ODD]] {
// CHECK-NEXT:      func.call @copy(%{{.*}}, %[[A]])
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[C:.*]] = arith.select %[[ODD]], %{{.*}}, %{{.*}} : memref<4xf32>
// CHECK-NEXT:    func.call @k(%[[C]], %[[Z]])
func.func @until(%g: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %r = relay.loop(%i, %a = %x : tensor<4xf32>, %b = %x : tensor<4xf32>) while %g : tensor<i1> -> tuple<tensor<4xf32>, tensor<4xf32>> {
    %k = func.call @k(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %l = func.call @k(%b) : (tensor<4xf32>) -> tensor<4xf32>
    %t = relay.tuple(%g, %k, %l) : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<i1>, tensor<4xf32>, tensor<4xf32>>
    relay.yield %t : tuple<tensor<i1>, tensor<4xf32>, tensor<4xf32>>
  }
  %p = relay.tuple_get_item(%r) {index = 0} : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %q = relay.tuple_get_item(%r) {index = 1} : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %z = func.call @k(%q) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %p, %z : tensor<4xf32>, tensor<4xf32>
}

func.func private @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %y = topi.compute "k" [%i : 4] : tensor<4xf32> {
    %0 = topi.read %x[%i] : tensor<4xf32>
    %1 = arith.negf %0 : f32
    topi.yield %1 : f32
  }
  func.return %y : tensor<4xf32>
}

// Requirements of a single branch are computed and asserted in the branch.
// CHECK-LABEL: func.func @apart
// CHECK-NOT:     cf.assert
// CHECK:         scf.if %{{.*}} {
// CHECK:           %[[LESS:.*]] = arith.subi %n, %{{.*}} : index
// CHECK:           cf.assert %{{.*}}, "shape mismatch: n - 3 >= 0"
// CHECK:           %y = memref.alloc(%[[LESS]]) : memref<?xf32>
// CHECK:           scf.if %{{.*}} {
// CHECK-NEXT:        func.call @max(%y, %{{.*}}, %[[LESS]])
// CHECK:         } else {
// CHECK-NOT:       cf.assert
func.func @apart(%c: tensor<i1>, %x: tensor<?xf32, #relay.dims<n>>, %s: tensor<f32>) -> tensor<f32> {
  %r = relay.if %c : tensor<i1> -> tensor<f32> {
    %y = func.call @tail(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n - 3>>
    %q = relay.if %c : tensor<i1> -> tensor<f32> {
      %m = func.call @max(%y) : (tensor<?xf32, #relay.dims<n - 3>>) -> tensor<f32>
      relay.yield %m : tensor<f32>
    } else {
      relay.yield %s : tensor<f32>
    }
    relay.yield %q : tensor<f32>
  } else {
    relay.yield %s : tensor<f32>
  }
  func.return %r : tensor<f32>
}

// The same holds for a loop that may have no iterations.
// CHECK-LABEL: func.func @never
// CHECK-NOT:     cf.assert
// CHECK:         } do {
// CHECK:           %[[LESS:.*]] = arith.subi %n, %{{.*}} : index
// CHECK:           cf.assert %{{.*}}, "shape mismatch: n - 3 >= 0"
func.func @never(%i: tensor<i64>, %x: tensor<?xf32, #relay.dims<n>>, %s: tensor<f32>) -> tensor<f32> {
  %r = relay.loop(%k, %c = %s : tensor<f32>) to %i : tensor<i64> -> tuple<tensor<f32>> {
    %y = func.call @tail(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n - 3>>
    %m = func.call @max(%y) : (tensor<?xf32, #relay.dims<n - 3>>) -> tensor<f32>
    %t = relay.tuple(%m) : (tensor<f32>) -> tuple<tensor<f32>>
    relay.yield %t : tuple<tensor<f32>>
  }
  %l = relay.tuple_get_item(%r) {index = 0} : (tuple<tensor<f32>>) -> tensor<f32>
  func.return %l : tensor<f32>
}

// A requirement of a loop that surely has iterations is asserted before the loop. A constant trip count is not loaded.
// CHECK-LABEL: func.func @twice
// CHECK:         cf.assert %{{.*}}, "shape mismatch: n - 3 >= 0"
// CHECK:         %[[TWO:.*]] = arith.constant 2 : index
// CHECK:         scf.while
// CHECK-NEXT:      arith.cmpi slt, %{{.*}}, %[[TWO]] : index
func.func @twice(%x: tensor<?xf32, #relay.dims<n>>, %s: tensor<f32>) -> tensor<f32> {
  %i = relay.constant dense<2> : tensor<i64>
  %r = relay.loop(%k, %c = %s : tensor<f32>) to %i : tensor<i64> -> tuple<tensor<f32>> {
    %y = func.call @tail(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n - 3>>
    %m = func.call @max(%y) : (tensor<?xf32, #relay.dims<n - 3>>) -> tensor<f32>
    %t = relay.tuple(%m) : (tensor<f32>) -> tuple<tensor<f32>>
    relay.yield %t : tuple<tensor<f32>>
  }
  %l = relay.tuple_get_item(%r) {index = 0} : (tuple<tensor<f32>>) -> tensor<f32>
  func.return %l : tensor<f32>
}

// The requirements of a yielded value are asserted before a kernel writes into a buffer whose size they ensure.
// CHECK-LABEL: func.func @yielded
// CHECK:         scf.while
// CHECK:         cf.assert %{{.*}}, "shape mismatch: [relay.yield C0] yielded extent: 7 == extent 0 of {{.*}} relay.loop
// CHECK:         memref.cast{{.*}} : (memref<?xf32>) -> memref<7xf32>
// CHECK:         func.call @seven(%y, %{{.*}}) : (memref<7xf32>, memref<7xf32>) -> ()
func.func @yielded(%x: tensor<?xf32, #relay.dims<n>>, %y: tensor<7xf32>) -> tensor<?xf32, #relay.dims<n>> {
  %i = relay.constant dense<2> : tensor<i64>
  %r = relay.loop(%k, %c = %x : tensor<?xf32, #relay.dims<n>>) to %i : tensor<i64> -> tuple<tensor<?xf32, #relay.dims<n>>> {
    %m = func.call @seven(%y) : (tensor<7xf32>) -> tensor<7xf32>
    %t = relay.tuple(%m) : (tensor<7xf32>) -> tuple<tensor<7xf32>>
    relay.yield %t {relay.requires = #relay.requirements<7 == n "C0 yielded extent">} : tuple<tensor<7xf32>>
  }
  %l = relay.tuple_get_item(%r) {index = 0} : (tuple<tensor<?xf32, #relay.dims<n>>>) -> tensor<?xf32, #relay.dims<n>>
  func.return %l : tensor<?xf32, #relay.dims<n>>
}

func.func private @seven(%x: tensor<7xf32>) -> tensor<7xf32> attributes {relay.primitive} {
  %y = topi.compute "seven" [%i : 7] : tensor<7xf32> {
    %0 = topi.read %x[%i] : tensor<7xf32>
    topi.yield %0 : f32
  }
  func.return %y : tensor<7xf32>
}

func.func private @tail(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n - 3>> attributes {relay.primitive} {
  %y = topi.compute "tail" [%i : n - 3] : tensor<?xf32, #relay.dims<n - 3>> {
    %0 = topi.read %x[%i + 3] : tensor<?xf32, #relay.dims<n>>
    topi.yield %0 : f32
  }
  func.return %y : tensor<?xf32, #relay.dims<n - 3>>
}

func.func private @max(%x: tensor<?xf32, #relay.dims<n - 3>>) -> tensor<f32> attributes {relay.primitive} {
  %y = topi.compute "max" [] reduce [%i : n - 3] init [%acc = 0.0 : f32] : tensor<f32> {
    %0 = topi.read %x[%i] : tensor<?xf32, #relay.dims<n - 3>>
    %1 = arith.maximumf %acc, %0 : f32
    topi.yield %1 : f32
  }
  func.return %y : tensor<f32>
}
