// RUN: xrelay-opt %s -p loop-check-accesses --split-input-file --verify-diagnostics

func.func private @unknown(%x: memref<?xf32>) attributes {loop.num_outputs = 0 : i64, loop.kernel} {
  loop.for "i" %i to 4 {
    // expected-error @+1 {{the buffer that loop.load accesses has an unknown extent}}
    %0 = loop.load %x[%i] : memref<?xf32>
  }
  func.return
}

// -----

// Arithmetic that wraps would invalidate the ranges.
func.func private @wraps(%x: memref<4xf32>) attributes {loop.num_outputs = 0 : i64, loop.kernel} {
  %large = arith.constant 6917529027641081856 : index
  %three = arith.constant 3 : index
  loop.for "i" %i to 4 {
    // expected-error @+1 {{an index of arith.muli may run from 0 to 20752587082923245568; help: keep indices below 2 ** 62}}
    %a = arith.muli %i, %large : index
    %b = arith.remui %a, %three : index
    %0 = loop.load %x[%b] : memref<4xf32>
  }
  func.return
}

// -----

func.func private @block(%x: memref<4xf32>) attributes {loop.num_outputs = 1 : i64, loop.kernel} {
  loop.for "i" %i to 4 {
    // expected-error@+1 {{loop-check-accesses does not accept loop.block; help: run loop-lower-blocks first}}
    loop.block "relu" (%vi : spatial 4 = %i) reads() writes(%x) {
      %0 = arith.constant 0.000000e+00 : f32
      loop.store %0, %x[%vi] : memref<4xf32>
    }
  }
  func.return
}
