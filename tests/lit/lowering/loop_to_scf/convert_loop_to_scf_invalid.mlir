// RUN: xrelay-opt %s --split-input-file --verify-diagnostics -p convert-loop-to-scf

func.func @block(%X: memref<4xf32>) {
  loop.for "i" %i to 4 {
    // expected-error@+1 {{cannot convert 'loop.block': run loop-lower-blocks before convert-loop-to-scf}}
    loop.block "zero" (%v : spatial 4 = %i) writes(%X) {
      %z = arith.constant 0.0 : f32
      loop.store %z, %X[%v] : memref<4xf32>
    }
  }
  func.return
}

// -----

func.func @same_element(%X: memref<4xf32>, %Y: memref<1xf32>) {
  loop.for "i" %i to 4 vectorized {
    %x = loop.load %X[%i] : memref<4xf32>
    // expected-error@+1 {{every lane of a vectorised loop would store to the same element}}
    loop.store %x, %Y[0] : memref<1xf32>
  }
  func.return
}

// -----

func.func private @f()
func.func @call() {
  loop.for "i" %i to 4 vectorized {
    // expected-error@+1 {{cannot convert 'func.call': it cannot be done for all lanes of a vectorised loop}}
    func.call @f() : () -> ()
  }
  func.return
}

// -----

func.func @kernel() {
  // expected-error@+1 {{@kernel contains a 'loop.weight'; only @main may}}
  %w = loop.weight "w" : memref<4xf32>
  func.return
}
