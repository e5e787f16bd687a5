// RUN: xrelay-opt %s -p 'loop-share-result{block=exp}' | filecheck %s
// RUN: not xrelay-opt %s -p 'loop-share-result{block=scaled}' 2>&1 | filecheck %s --check-prefix ARGUMENT
// RUN: not xrelay-opt %s -p 'loop-share-result{block=sum}' 2>&1 | filecheck %s --check-prefix SCALAR
// RUN: not xrelay-opt %s -p 'loop-share-result{block=mirrored}' 2>&1 | filecheck %s --check-prefix MIRRORED
// RUN: not xrelay-opt %s -p 'loop-share-result{block=narrow}' 2>&1 | filecheck %s --check-prefix NARROW
// RUN: not xrelay-opt %s -p 'loop-share-result{block=in_place}' 2>&1 | filecheck %s --check-prefix PLACE
// RUN: not xrelay-opt %s -p 'loop-split{loop=l factor=16},loop-share-result{block=exp}' 2>&1 | filecheck %s --check-prefix SPLIT
// RUN: not xrelay-opt %s -p 'loop-share-result{block=part}' 2>&1 | filecheck %s --check-prefix PART
// RUN: not xrelay-opt %s -p 'loop-share-result{block=summed}' 2>&1 | filecheck %s --check-prefix SUMMED

// ARGUMENT: error: share_result("scaled"): block 'scaled': it writes an argument of the kernel; help: use cache_write or cache_read first
// SCALAR: error: share_result("sum"): block 'scaled': it does not overwrite exactly the elements that block 'sum' stores; help: use compute_at for its producers first
// MIRRORED: error: share_result("mirrored"): block 'mirror': it does not overwrite exactly the elements that block 'mirrored' stores;
// NARROW: error: share_result("narrow"): block 'narrowed': its result has elements of f16, not f32; help: leave out this step
// PLACE: error: share_result("in_place"): block 'placed': its result may be in the buffer of an input; help: leave out this step
// SPLIT: error: share_result("exp"): block 'scaled': it does not store a result of its own at each point, in one serial loop for each variable; help: use share_result before other primitives on its loops
// PART: error: share_result("part"): block 'parted': it does not overwrite exactly the elements that block 'part' stores;
// SUMMED: error: share_result("summed"): block 'total': it does not store a result of the kernel that no other op uses; help: name a block whose last reader stores a result

// The exponentials are stored in the row of the result, and other buffers stay.
// CHECK-LABEL: func.func private @softmax
// CHECK: loop.for "i" %i to 4 {
// CHECK-NEXT: %s = memref.alloc() : memref<f32, "local">
// CHECK: loop.block "exp" (%{{.*}} : spatial 5000 = %j) reads(%X) writes(%Y) {
// CHECK: loop.store %{{.*}}, %Y[%i, %vj] : memref<4x5000xf32>
// CHECK: loop.block "sum" (%vk : reduce 5000 = %k) reads(%Y) writes(%s) init {
// CHECK: loop.load %Y[%i, %vk] : memref<4x5000xf32>
// CHECK: loop.block "scaled" (%vi : spatial 4 = %i, %vl : spatial 5000 = %l) reads(%s) writes(%Y) {
// CHECK: loop.load %Y[%i, %vl] : memref<4x5000xf32>
// CHECK: loop.store %{{.*}}, %Y[%vi, %vl] : memref<4x5000xf32>
func.func private @softmax(%X: memref<4x5000xf32>, %Y: memref<4x5000xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 4 {
    %e = memref.alloc() : memref<5000xf32, "local">
    %s = memref.alloc() : memref<f32, "local">
    loop.for "j" %j to 5000 {
      loop.block "exp" (%vj : spatial 5000 = %j) reads(%X) writes(%e) {
        %x = loop.load %X[%i, %vj] : memref<4x5000xf32>
        %p = math.exp %x : f32
        loop.store %p, %e[%vj] : memref<5000xf32, "local">
      }
    }
    loop.for "k" %k to 5000 {
      loop.block "sum" (%vk : reduce 5000 = %k) reads(%e) writes(%s) init {
        %zero = arith.constant 0.0 : f32
        loop.store %zero, %s[] : memref<f32, "local">
      } {
        %x = loop.load %e[%vk] : memref<5000xf32, "local">
        %y = loop.load %s[] : memref<f32, "local">
        %t = arith.addf %y, %x : f32
        loop.store %t, %s[] : memref<f32, "local">
      }
    }
    loop.for "l" %l to 5000 {
      loop.block "scaled" (%vi : spatial 4 = %i, %vl : spatial 5000 = %l) reads(%e, %s) writes(%Y) {
        %x = loop.load %e[%vl] : memref<5000xf32, "local">
        %y = loop.load %s[] : memref<f32, "local">
        %t = arith.divf %x, %y : f32
        loop.store %t, %Y[%vi, %vl] : memref<4x5000xf32>
      }
    }
  }
  func.return
}

// Another element is read than overwritten.
func.func private @mirror(%X: memref<8xf32>, %Y: memref<8xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  %e = memref.alloc() : memref<8xf32>
  loop.for "m" %j to 8 {
    loop.block "mirrored" (%vj : spatial 8 = %j) reads(%X) writes(%e) {
      %x = loop.load %X[%vj] : memref<8xf32>
      loop.store %x, %e[%vj] : memref<8xf32>
    }
  }
  loop.for "n" %l to 8 {
    loop.block "mirror" (%vl : spatial 8 = %l) reads(%e) writes(%Y) {
      %x = loop.load %e[7 - %vl] : memref<8xf32>
      loop.store %x, %Y[%vl] : memref<8xf32>
    }
  }
  func.return
}

func.func private @narrow(%X: memref<8xf32>, %Y: memref<8xf16>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  %e = memref.alloc() : memref<8xf32>
  loop.for "o" %j to 8 {
    loop.block "narrow" (%vj : spatial 8 = %j) reads(%X) writes(%e) {
      %x = loop.load %X[%vj] : memref<8xf32>
      loop.store %x, %e[%vj] : memref<8xf32>
    }
  }
  loop.for "p" %l to 8 {
    loop.block "narrowed" (%vl : spatial 8 = %l) reads(%e) writes(%Y) {
      %x = loop.load %e[%vl] : memref<8xf32>
      %h = arith.truncf %x : f32 to f16
      loop.store %h, %Y[%vl] : memref<8xf16>
    }
  }
  func.return
}

// The buffer of an input would be overwritten before the input is read.
func.func private @place(%X: memref<8xf32>, %Y: memref<8xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64, loop.in_place = array<i64: 0, 1>} {
  %e = memref.alloc() : memref<8xf32>
  loop.for "q" %j to 8 {
    loop.block "in_place" (%vj : spatial 8 = %j) writes(%e) {
      %x = arith.constant 1.0 : f32
      loop.store %x, %e[%vj] : memref<8xf32>
    }
  }
  loop.for "r" %l to 8 {
    loop.block "placed" (%vl : spatial 8 = %l) reads(%e, %X) writes(%Y) {
      %x = loop.load %e[%vl] : memref<8xf32>
      %y = loop.load %X[%vl] : memref<8xf32>
      %t = arith.addf %x, %y : f32
      loop.store %t, %Y[%vl] : memref<8xf32>
    }
  }
  func.return
}

// Elements of the buffer have no place in the result.
func.func private @part(%X: memref<8xf32>, %Y: memref<4xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  %e = memref.alloc() : memref<8xf32>
  loop.for "u" %j to 8 {
    loop.block "part" (%vj : spatial 8 = %j) reads(%X) writes(%e) {
      %x = loop.load %X[%vj] : memref<8xf32>
      loop.store %x, %e[%vj] : memref<8xf32>
    }
  }
  loop.for "v" %l to 4 {
    loop.block "parted" (%vl : spatial 4 = %l) reads(%e) writes(%Y) {
      %x = loop.load %e[%vl] : memref<8xf32>
      loop.store %x, %Y[%vl] : memref<4xf32>
    }
  }
  func.return
}

func.func private @total(%X: memref<8xf32>, %Y: memref<f32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  %e = memref.alloc() : memref<8xf32>
  loop.for "w" %j to 8 {
    loop.block "summed" (%vj : spatial 8 = %j) reads(%X) writes(%e) {
      %x = loop.load %X[%vj] : memref<8xf32>
      loop.store %x, %e[%vj] : memref<8xf32>
    }
  }
  loop.for "z" %l to 8 {
    loop.block "total" (%vl : reduce 8 = %l) reads(%e) writes(%Y) init {
      %zero = arith.constant 0.0 : f32
      loop.store %zero, %Y[] : memref<f32>
    } {
      %x = loop.load %e[%vl] : memref<8xf32>
      %y = loop.load %Y[] : memref<f32>
      %t = arith.addf %y, %x : f32
      loop.store %t, %Y[] : memref<f32>
    }
  }
  func.return
}
