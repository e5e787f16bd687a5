// RUN: xrelay-opt %s -p scf-select-versions,scf-select-versions | filecheck %s

// CHECK-LABEL: func.func private @k(
// CHECK-SAME:    xrelay.sources = ["dense1"]
// CHECK:         [[M:%.*]] = arith.constant 3 : index
// CHECK-NEXT:    [[A:%.*]] = arith.cmpi eq, %m, [[M]] : index
// CHECK-NEXT:    [[N:%.*]] = arith.constant 1 : index
// CHECK-NEXT:    [[B:%.*]] = arith.cmpi eq, %n, [[N]] : index
// CHECK-NEXT:    [[BOTH:%.*]] = arith.andi [[A]], [[B]] : i1
// CHECK-NEXT:    scf.if [[BOTH]] {
// CHECK-NEXT:      [[X:%.*]] = "memref.cast"(%x) : (memref<?x8xf32>) -> memref<1x8xf32>
// CHECK-NEXT:      func.call @k_n1([[X]], %w) : (memref<1x8xf32>, memref<8xf32>) -> ()
// CHECK-NEXT:    } else {
// CHECK-NEXT:      func.call @k_any(%x, %w, %m, %n)
// CHECK-NEXT:    }
// CHECK-LABEL: func.func private @k_any(
// CHECK-SAME:    xrelay.kernel = "k"
// CHECK:         "test.op"
func.func private @k(%x: memref<?x8xf32> {llvm.noalias}, %w: memref<8xf32>, %m: index, %n: index)
    attributes {loop.kernel, loop.dims = #relay.dims<2 * n + 1, n>, xrelay.sources = ["dense1"]} {
  "test.op"(%x) : (memref<?x8xf32>) -> ()
  func.return
}
// CHECK-LABEL: func.func private @k_n1(
// CHECK-SAME:    %x: memref<1x8xf32> {llvm.noalias}
// CHECK-SAME:    xrelay.kernel = "k"
func.func private @k_n1(%x: memref<1x8xf32>, %w: memref<8xf32>)
    attributes {loop.kernel, loop.version = {of = @k, reason = "usual", sizes = {n = 1 : i64}}} {
  func.return
}

// Versions that need their own memory, or whose kernel is missing or has other buffers, are removed.
// CHECK-LABEL: func.func private @alone(
// CHECK-NEXT:    func.return
// CHECK-NOT:   @alone_n1
// CHECK-NOT:   @gone_n1
// CHECK-NOT:   @other_n1
func.func private @alone(%x: memref<?xf32>, %n: index) attributes {loop.kernel, loop.dims = #relay.dims<n>} {
  func.return
}
func.func private @alone_n1(%x: memref<1xf32>) attributes {loop.kernel, loop.version = {of = @alone, reason = "usual", sizes = {n = 1 : i64}}} {
  %0 = memref.alloc() : memref<8xf32>
  func.return
}
func.func private @gone_n1(%x: memref<1xf32>) attributes {loop.kernel, loop.version = {of = @gone, reason = "usual", sizes = {n = 1 : i64}}} {
  func.return
}
func.func private @other(%x: memref<?xf32>, %n: index) attributes {loop.kernel, loop.dims = #relay.dims<n>} {
  func.return
}
func.func private @other_n1(%x: memref<1xf32>, %y: memref<1xf32>)
    attributes {loop.kernel, loop.version = {of = @other, reason = "usual", sizes = {n = 1 : i64}}} {
  func.return
}

// Versions are tested one after the other.
// CHECK-LABEL: func.func private @two(
// CHECK-NEXT:    [[EIGHT:%.*]] = arith.constant 8 : index
// CHECK-NEXT:    [[A:%.*]] = arith.cmpi eq, %n, [[EIGHT]] : index
// CHECK-NEXT:    scf.if [[A]] {
// CHECK-NEXT:      "memref.cast"
// CHECK-NEXT:      func.call @two_n8(
// CHECK-NEXT:    } else {
// CHECK-NEXT:      [[ONE:%.*]] = arith.constant 1 : index
// CHECK-NEXT:      [[B:%.*]] = arith.cmpi eq, %n, [[ONE]] : index
// CHECK-NEXT:      scf.if [[B]] {
// CHECK-NEXT:        "memref.cast"
// CHECK-NEXT:        func.call @two_n1(
// CHECK-NEXT:      } else {
// CHECK-NEXT:        func.call @two_any(%x, %n)
func.func private @two(%x: memref<?xf32>, %n: index) attributes {loop.kernel, loop.dims = #relay.dims<n>} {
  func.return
}
func.func private @two_n8(%x: memref<8xf32>) attributes {loop.kernel, loop.version = {of = @two, reason = "usual", sizes = {n = 8 : i64}}} {
  func.return
}
func.func private @two_n1(%x: memref<1xf32>) attributes {loop.kernel, loop.version = {of = @two, reason = "usual", sizes = {n = 1 : i64}}} {
  func.return
}

// A version with a dynamic name gets its extent, and is chosen if other extents are equal to it.
// CHECK-LABEL: func.func private @open(
// CHECK-NEXT:    [[ONE:%.*]] = arith.constant 1 : index
// CHECK-NEXT:    [[A:%.*]] = arith.cmpi eq, %n, [[ONE]] : index
// CHECK-NEXT:    [[B:%.*]] = arith.cmpi eq, %nm, %m : index
// CHECK-NEXT:    [[BOTH:%.*]] = arith.andi [[A]], [[B]] : i1
// CHECK-NEXT:    scf.if [[BOTH]] {
// CHECK-NEXT:      [[X:%.*]] = "memref.cast"(%x) : (memref<?x?xf32>) -> memref<1x?xf32>
// CHECK-NEXT:      func.call @open_n1([[X]], %y, %m) : (memref<1x?xf32>, memref<?xf32>, index) -> ()
// CHECK-NEXT:    } else {
// CHECK-NEXT:      func.call @open_any(%x, %y, %s, %m, %n, %nm)
func.func private @open(%x: memref<?x?xf32>, %y: memref<?xf32>, %s: memref<?xf32>, %m: index, %n: index, %nm: index)
    attributes {loop.kernel, loop.num_scratch = 1 : i64, loop.dims = #relay.dims<m, n, n * m>} {
  func.return
}
func.func private @open_n1(%x: memref<1x?xf32>, %y: memref<?xf32>, %m: index)
    attributes {loop.kernel, loop.dims = #relay.dims<m>, loop.version = {of = @open, reason = "usual", sizes = {n = 1 : i64}}} {
  func.return
}

// Neither the name nor the version's extent is known to be 1: no version.
// CHECK-LABEL: func.func private @untold(
// CHECK-NEXT:    func.return
// CHECK-NOT:   @untold_n1
func.func private @untold(%x: memref<?xf32>, %nm: index) attributes {loop.kernel, loop.dims = #relay.dims<n * m>} {
  func.return
}
func.func private @untold_n1(%x: memref<?xf32>, %m: index)
    attributes {loop.kernel, loop.dims = #relay.dims<m>, loop.version = {of = @untold, reason = "usual", sizes = {n = 1 : i64}}} {
  func.return
}
func.func private @unfit(%x: memref<?xf32>, %n: index) attributes {loop.kernel, loop.dims = #relay.dims<n>} {
  func.return
}
func.func private @unfit_n1(%x: memref<1xf32>, %m: index)
    attributes {loop.kernel, loop.dims = #relay.dims<m>, loop.version = {of = @unfit, reason = "usual", sizes = {n = 1 : i64}}} {
  func.return
}

// A version uses the scratch buffers of its kernel if they have the same types for its sizes; @more_n1 needs a longer one.
// CHECK-LABEL: func.func private @scratch(
// CHECK:         [[S:%.*]] = "memref.cast"(%s) : (memref<?x8xf32>) -> memref<1x8xf32>
// CHECK-NEXT:    func.call @scratch_n1(%{{.*}}, [[S]], %t)
// CHECK-LABEL: func.func private @scratch_n1(
// CHECK-NOT:     memref.alloc
// CHECK:         "test.op"(%{{.*}}, %{{.*}}) : (memref<1x8xf32>, memref<4xf32>) -> ()
// CHECK-NOT:   @more_n1
func.func private @scratch(%x: memref<?xf32> {loop.extents = array<i64: 0>}, %s: memref<?x8xf32> {loop.extents = array<i64: 0>},
                           %t: memref<4xf32>, %n: index)
    attributes {loop.kernel, loop.num_scratch = 2 : i64, loop.dims = #relay.dims<n>} {
  func.return
}
func.func private @scratch_n1(%x: memref<1xf32>)
    attributes {loop.kernel, loop.version = {of = @scratch, reason = "usual", sizes = {n = 1 : i64}}} {
  %0 = memref.alloc() : memref<1x8xf32>
  %1 = memref.alloc() : memref<4xf32>
  "test.op"(%0, %1) : (memref<1x8xf32>, memref<4xf32>) -> ()
  func.return
}
func.func private @more(%x: memref<?xf32> {loop.extents = array<i64: 0>}, %s: memref<?x8xf32> {loop.extents = array<i64: 0>}, %n: index)
    attributes {loop.kernel, loop.num_scratch = 1 : i64, loop.dims = #relay.dims<n>} {
  func.return
}
func.func private @more_n1(%x: memref<1xf32>)
    attributes {loop.kernel, loop.version = {of = @more, reason = "usual", sizes = {n = 1 : i64}}} {
  %0 = memref.alloc() : memref<2x8xf32>
  func.return
}
