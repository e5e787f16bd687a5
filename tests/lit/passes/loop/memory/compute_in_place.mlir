// RUN: xrelay-opt %s -p 'loop-compute-in-place{least=16}' | filecheck %s
// RUN: xrelay-opt %s -p 'loop-compute-in-place{least=100000}' | filecheck --check-prefix=SMALL %s
// SMALL-NOT:     loop.in_place

// The input of a kernel shares its output's buffer, at its last use; an output of the function is computed in its own.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %a = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    func.call @reverse(%x, %a)
// CHECK-NEXT:    func.call @add_in_place(%a, %x, %a)
// CHECK-NEXT:    func.call @reverse(%a, %y)
// CHECK-NEXT:    func.call @add_in_place(%y, %x, %y)
// CHECK-NEXT:    func.return
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {loop.num_outputs = 1 : i64} {
  %a = memref.alloc() : memref<4xf32>
  func.call @reverse(%x, %a) : (memref<4xf32>, memref<4xf32>) -> ()
  %b = memref.alloc() : memref<4xf32>
  func.call @add(%a, %x, %b) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
  %c = memref.alloc() : memref<4xf32>
  func.call @reverse(%b, %c) : (memref<4xf32>, memref<4xf32>) -> ()
  func.call @add(%c, %x, %y) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
  func.return
}

// Unchanged: arguments, and buffers that are needed later, read again in a view, passed twice, needed by the next
// iteration, or yielded by a branch.
// CHECK-LABEL: func.func @alone
// CHECK:         func.call @add(%x, %x, %a)
// CHECK-NEXT:    %b = memref.alloc
// CHECK-NEXT:    func.call @add(%a, %x, %b)
// CHECK-NEXT:    func.call @add_in_place(%b, %a, %b)
// CHECK-NEXT:    %v = memref.reinterpret_cast %b
// CHECK:         func.call @add(%b, %x, %d)
// CHECK-NEXT:    %s = memref.load %v
// CHECK-NEXT:    %e = memref.alloc
// CHECK-NEXT:    func.call @add(%d, %d, %e)
// CHECK:           func.call @add(%e, %x, %f)
// CHECK:         func.call @add(%g, %x, %y)
func.func @alone(%x: memref<4xf32>, %n: index, %q: i1, %y: memref<4xf32>) attributes {loop.num_outputs = 1 : i64} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = memref.alloc() : memref<4xf32>
  func.call @add(%x, %x, %a) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
  %b = memref.alloc() : memref<4xf32>
  func.call @add(%a, %x, %b) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
  %c = memref.alloc() : memref<4xf32>
  func.call @add(%b, %a, %c) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
  %v = memref.reinterpret_cast %c to offset: [0], sizes: [2], strides: [1] : memref<4xf32> to memref<2xf32>
  %d = memref.alloc() : memref<4xf32>
  func.call @add(%c, %x, %d) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
  %s = memref.load %v[%zero] : memref<2xf32>
  %e = memref.alloc() : memref<4xf32>
  func.call @add(%d, %d, %e) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
  scf.for %i = %zero to %n step %one {
    %f = memref.alloc() : memref<4xf32>
    func.call @add(%e, %x, %f) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
    scf.yield
  }
  %g = scf.if %q -> (memref<4xf32>) {
    %h = memref.alloc() : memref<4xf32>
    func.call @reverse(%x, %h) : (memref<4xf32>, memref<4xf32>) -> ()
    scf.yield %h : memref<4xf32>
  } else {
    %k = memref.alloc() : memref<4xf32>
    func.call @reverse(%x, %k) : (memref<4xf32>, memref<4xf32>) -> ()
    scf.yield %k : memref<4xf32>
  }
  func.call @add(%g, %x, %y) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
  func.return
}

// In a loop: buffers of the iteration whose dynamic extents are the same values.
// CHECK-LABEL: func.func @rows
// CHECK:         scf.for
// CHECK-NEXT:      %a = memref.alloc(%n) : memref<?x4xf32>
// CHECK-NEXT:      func.call @twice(%x, %a, %n)
// CHECK-NEXT:      func.call @twice_in_place(%a, %a, %n)
// CHECK-NEXT:      %c = memref.alloc(%m) : memref<?x4xf32>
// CHECK-NEXT:      func.call @twice(%a, %c, %n)
func.func @rows(%x: memref<?x4xf32>, %m: index, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    %a = memref.alloc(%n) : memref<?x4xf32>
    func.call @twice(%x, %a, %n) : (memref<?x4xf32>, memref<?x4xf32>, index) -> ()
    %b = memref.alloc(%n) : memref<?x4xf32>
    func.call @twice(%a, %b, %n) : (memref<?x4xf32>, memref<?x4xf32>, index) -> ()
    %c = memref.alloc(%m) : memref<?x4xf32>
    func.call @twice(%b, %c, %n) : (memref<?x4xf32>, memref<?x4xf32>, index) -> ()
    scf.yield
  }
  func.return
}

// An element is read at another position than it is written.
// CHECK:       func.func private @reverse
// CHECK-SAME:    attributes {loop.kernel, loop.num_outputs = 1 : i64}
func.func private @reverse(%p: memref<4xf32>, %r: memref<4xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "j" %j to 4 {
    loop.block "reverse" (%vj : spatial 4 = %j) reads(%p) writes(%r) {
      %0 = loop.load %p[%vj * -1 + 3] : memref<4xf32>
      loop.store %0, %r[%vj] : memref<4xf32>
    }
  }
  func.return
}

// The other calls need the original kernel.
// CHECK:       func.func private @add(
// CHECK-SAME:    attributes {loop.kernel, loop.num_outputs = 1 : i64}
// CHECK:       func.func private @add_in_place(
// CHECK-SAME:    loop.in_place = array<i64: 0, 2>
func.func private @add(%p: memref<4xf32>, %q: memref<4xf32>, %r: memref<4xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 4 {
    loop.block "add" (%vi : spatial 4 = %i) reads(%p, %q) writes(%r) {
      %0 = loop.load %p[%vi] : memref<4xf32>
      %1 = loop.load %q[%vi] : memref<4xf32>
      %2 = arith.addf %0, %1 : f32
      loop.store %2, %r[%vi] : memref<4xf32>
    }
  }
  func.return
}

func.func private @twice(%p: memref<?x4xf32> {loop.extents = array<i64: 0>}, %r: memref<?x4xf32> {loop.extents = array<i64: 0>}, %n: index) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "k" %k to %n {
    loop.for "l" %l to 4 {
      loop.block "twice" (%vk : spatial %n = %k, %vl : spatial 4 = %l) reads(%p) writes(%r) {
        %0 = loop.load %p[%vk, %vl] : memref<?x4xf32>
        %1 = arith.addf %0, %0 : f32
        loop.store %1, %r[%vk, %vl] : memref<?x4xf32>
      }
    }
  }
  func.return
}

// A copy has copies of the versions.
// CHECK-LABEL: func.func @chosen
// CHECK:         func.call @half(%x, %a, %n)
// CHECK:         func.call @half_in_place(%a, %a, %n)
// CHECK:       func.func private @half_in_place({{.*}} loop.in_place = array<i64: 0, 1>
// CHECK:       func.func private @half_n1_in_place({{.*}} loop.version = {of = @half_in_place, {{.*}} loop.in_place = array<i64: 0, 1>
func.func @chosen(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) attributes {loop.num_outputs = 1 : i64} {
  %a = memref.alloc(%n) : memref<?xf32>
  func.call @half(%x, %a, %n) : (memref<?xf32>, memref<?xf32>, index) -> ()
  %b = memref.alloc(%n) : memref<?xf32>
  func.call @half(%a, %b, %n) : (memref<?xf32>, memref<?xf32>, index) -> ()
  func.call @half(%b, %y, %n) : (memref<?xf32>, memref<?xf32>, index) -> ()
  func.return
}

func.func private @half(%p: memref<?xf32> {loop.extents = array<i64: 0>}, %r: memref<?xf32> {loop.extents = array<i64: 0>}, %n: index) attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.dims = #relay.dims<n>} {
  loop.for "h" %h to %n {
    loop.block "half" (%vh : spatial %n = %h) reads(%p) writes(%r) {
      %0 = loop.load %p[%vh] : memref<?xf32>
      %1 = arith.constant 0.5 : f32
      %2 = arith.mulf %0, %1 : f32
      loop.store %2, %r[%vh] : memref<?xf32>
    }
  }
  func.return
}

func.func private @half_n1(%p: memref<1xf32>, %r: memref<1xf32>, %n: index) attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.dims = #relay.dims<n>, loop.version = {of = @half, reason = "", sizes = {n = 1 : i64}}} {
  loop.block "half_n1" (%vh : spatial 1 = 0) reads(%p) writes(%r) {
    %0 = loop.load %p[%vh] : memref<1xf32>
    %1 = arith.constant 0.5 : f32
    %2 = arith.mulf %0, %1 : f32
    loop.store %2, %r[%vh] : memref<1xf32>
  }
  func.return
}
