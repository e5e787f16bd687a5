// RUN: xrelay-opt %s --split-input-file --verify-diagnostics -p loop-lower-blocks

func.func @adds_twice(%X: memref<8x40xf32>, %Y: memref<40xf32>) {
  loop.for "k" %k to 8 {
    // expected-error@+1 {{loop 'io' cannot have tail = overlap: block 'sum' would add to some elements twice}}
    loop.for "io" %io to 3 tail = overlap {
      loop.for "ii" %ii to 16 {
        loop.block "sum" (%v : spatial 40 = %io * 16 + %ii, %r : reduce 8 = %k) reads(%X) writes(%Y) init {
          %z = arith.constant 0.0 : f32
          loop.store %z, %Y[%v] : memref<40xf32>
        } {
          %x = loop.load %X[%r, %v] : memref<8x40xf32>
          %y = loop.load %Y[%v] : memref<40xf32>
          %s = arith.addf %y, %x : f32
          loop.store %s, %Y[%v] : memref<40xf32>
        }
      }
    }
  }
  func.return
}

// -----

func.func @in_place(%X: memref<40xf32>) {
  // expected-error@+1 {{loop 'io' cannot have tail = overlap: block 'double' would add to some elements twice}}
  loop.for "io" %io to 3 tail = overlap {
    loop.for "ii" %ii to 16 {
      loop.block "double" (%v : spatial 40 = %io * 16 + %ii) reads(%X) writes(%X) {
        %x = loop.load %X[%v] : memref<40xf32>
        %s = arith.addf %x, %x : f32
        loop.store %s, %X[%v] : memref<40xf32>
      }
    }
  }
  func.return
}

// -----

func.func @no_full_tile(%X: memref<10xf32>, %Y: memref<10xf32>) {
  // expected-error@+1 {{loop 'io' cannot have tail = overlap: the domain is shorter than one tile by 6}}
  loop.for "io" %io to 1 tail = overlap {
    loop.for "ii" %ii to 16 {
      loop.block "copy" (%v : spatial 10 = %io * 16 + %ii) reads(%X) writes(%Y) {
        %x = loop.load %X[%v] : memref<10xf32>
        loop.store %x, %Y[%v] : memref<10xf32>
      }
    }
  }
  func.return
}

// -----

func.func @reads_what_a_neighbour_writes(%X: memref<40xf32>, %T: memref<40xf32>, %Y: memref<40xf32>) {
  // expected-error@+1 {{loop 'io' cannot have tail = overlap: block 'b' reads a buffer that another block inside writes}}
  loop.for "io" %io to 3 tail = overlap {
    loop.for "ii" %ii to 16 {
      loop.block "a" (%v : spatial 40 = %io * 16 + %ii) reads(%X) writes(%T) {
        %x = loop.load %X[%v] : memref<40xf32>
        loop.store %x, %T[%v] : memref<40xf32>
      }
    }
    loop.for "jj" %jj to 16 {
      loop.block "b" (%v : spatial 40 = %io * 16 + %jj) reads(%T) writes(%Y) {
        %x = loop.load %T[%v] : memref<40xf32>
        loop.store %x, %Y[%v] : memref<40xf32>
      }
    }
  }
  func.return
}

// -----

func.func @shared_sum(%X: memref<8x40xf32>, %Y: memref<40xf32>) {
  // expected-error@+1 {{two threads would accumulate the same elements in block 'sum'}}
  loop.for "io" %io to 3 parallel tail = overlap {
    loop.for "k" %k to 8 {
      loop.for "ii" %ii to 16 {
        loop.block "sum" (%v : spatial 40 = %io * 16 + %ii, %r : reduce 8 = %k) reads(%X) writes(%Y) init {
          %z = arith.constant 0.0 : f32
          loop.store %z, %Y[%v] : memref<40xf32>
        } {
          %x = loop.load %X[%r, %v] : memref<8x40xf32>
          %y = loop.load %Y[%v] : memref<40xf32>
          %s = arith.addf %y, %x : f32
          loop.store %s, %Y[%v] : memref<40xf32>
        }
      }
    }
  }
  func.return
}
