// RUN: xrelay-opt %s -p 'loop-guard{loop=i_i},loop-split{loop=i_i factor=3}' | filecheck %s
// RUN: xrelay-opt %s -p 'loop-guard{loop=k},loop-split{loop=k factor=8}' | filecheck %s --check-prefix REDUCE
// RUN: not xrelay-opt %s -p 'loop-split{loop=i_i factor=3}' 2>&1 | filecheck %s --check-prefix PLAIN
// RUN: not xrelay-opt %s -p 'loop-guard{loop=s}' 2>&1 | filecheck %s --check-prefix ORDERED

// A tile of 5 is split by 3: the block skips the sixth iteration.
// CHECK-LABEL: func.func private @tiled
// CHECK:         loop.for "i_i_o" %[[O:.*]] to 2
// CHECK-NEXT:      loop.for "i_i_i" %[[I:.*]] to 3
// CHECK-NEXT:        loop.block "copy" (%{{.*}} : spatial 10 = %io * 5 + %[[O]] * 3 + %[[I]], %{{.*}} : spatial 5 = %[[O]] * 3 + %[[I]])
// PLAIN: error: split("i_i", 3): loop 'i_i': 3 does not divide its extent 5, and iterations 5 to 5 would still be inside the domain of block 'copy'; help: choose a divisor of 5, or guard the loop before
func.func private @tiled(%x: memref<10xf32>, %y: memref<10xf32>) attributes {loop.kernel} {
  loop.for "i_o" %io to 2 {
    loop.for "i_i" %ii to 5 {
      loop.block "copy" (%v : spatial 10 = %io * 5 + %ii) reads(%x) writes(%y) {
        %0 = loop.load %x[%v] : memref<10xf32>
        loop.store %0, %y[%v] : memref<10xf32>
      }
    }
  }
  func.return
}

// The new variable of a reduction is a reduction variable, too: init runs at 0.
// REDUCE-LABEL: func.func private @sum
// REDUCE:         loop.block "sum" (%{{.*}} : reduce 12 = {{.*}}, %{{.*}} : reduce 12 = {{.*}}) reads(%x) writes(%y) init {
func.func private @sum(%x: memref<12xf32>, %y: memref<1xf32>) attributes {loop.kernel} {
  loop.for "k" %k to 12 {
    loop.block "sum" (%v : reduce 12 = %k) reads(%x) writes(%y) init {
      %zero = arith.constant 0.0 : f32
      loop.store %zero, %y[0] : memref<1xf32>
    } {
      %0 = loop.load %x[%v] : memref<12xf32>
      %1 = loop.load %y[0] : memref<1xf32>
      %2 = arith.addf %1, %0 : f32
      loop.store %2, %y[0] : memref<1xf32>
    }
  }
  func.return
}

// ORDERED: error: guard("s"): loop 's': block 'scan' depends on the order of its iterations; help: split it by a divisor of its extent
func.func private @scan(%x: memref<12xf32>, %y: memref<1xf32>) attributes {loop.kernel} {
  loop.for "s" %s to 12 {
    loop.block "scan" (%v : ordered 12 = %s) reads(%x) writes(%y) {
      %0 = loop.load %x[%v] : memref<12xf32>
      loop.store %0, %y[0] : memref<1xf32>
    }
  }
  func.return
}
