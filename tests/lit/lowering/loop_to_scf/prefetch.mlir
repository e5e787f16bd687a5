// RUN: xrelay-opt %s -p convert-loop-to-scf | filecheck %s

// Four tiles of rows prefetch a panel of two vectors of columns: each vector is prefetched by two tiles. After the last
// panel, the first is prefetched.
// CHECK-LABEL: func.func @panels
// CHECK: scf.for [[P:%.*]] = {{.*}} {
// CHECK: scf.for [[R:%.*]] = {{.*}} {
// CHECK: scf.for [[K:%.*]] = {{.*}} {
// CHECK: [[NEXT:%.*]] = arith.addi [[P]], [[ONE:%.*]] overflow<nsw,nuw>
// CHECK-NEXT: [[PANEL:%.*]] = arith.remui [[NEXT]], {{.*}} : index
// CHECK-DAG: arith.divui [[R]], {{.*}} : index
// CHECK-DAG: arith.remui [[R]], {{.*}} : index
// CHECK: arith.divui [[K]], {{.*}} : index
// CHECK: memref.prefetch %W[{{.*}}], read, locality<2>, data : memref<6x32x16xf32>
func.func @panels(%A: memref<4x32xf32>, %W: memref<6x32x16xf32>) {
  loop.for "p" %p to 3 {
    loop.for "r" %r to 4 {
      %T = memref.alloc() : memref<2x16xf32, "local">
      loop.for "k" %k to 32 attributes {loop.prefetch} {
        loop.for "v" %v to 2 unrolled {
          loop.for "l" %l to 16 vectorized {
            %a = loop.load %A[%r, %k] : memref<4x32xf32>
            %w = loop.load %W[%p * 2 + %v, %k, %l] : memref<6x32x16xf32>
            %c = loop.load %T[%v, %l] : memref<2x16xf32, "local">
            %m = arith.mulf %a, %w : f32
            %s = arith.addf %c, %m : f32
            loop.store %s, %T[%v, %l] : memref<2x16xf32, "local">
          }
        }
      }
    }
  }
  func.return
}

// Of seven tiles, two prefetch a vector, not three: the loop over terms divides by powers of two only.
// CHECK-LABEL: func.func @powers
// CHECK-NOT: arith.constant 3 : index
// CHECK: memref.prefetch %W[{{.*}}], read, locality<2>, data : memref<8x32x16xf32>
func.func @powers(%A: memref<7x32xf32>, %W: memref<8x32x16xf32>) {
  loop.for "p" %p to 4 {
    loop.for "r" %r to 7 {
      %T = memref.alloc() : memref<2x16xf32, "local">
      loop.for "k" %k to 32 attributes {loop.prefetch} {
        loop.for "v" %v to 2 unrolled {
          loop.for "l" %l to 16 vectorized {
            %a = loop.load %A[%r, %k] : memref<7x32xf32>
            %w = loop.load %W[%p * 2 + %v, %k, %l] : memref<8x32x16xf32>
            %c = loop.load %T[%v, %l] : memref<2x16xf32, "local">
            %m = arith.mulf %a, %w : f32
            %s = arith.addf %c, %m : f32
            loop.store %s, %T[%v, %l] : memref<2x16xf32, "local">
          }
        }
      }
    }
  }
  func.return
}

// A single tile of rows reads each panel once, and prefetches all of the next one.
// CHECK-LABEL: func.func @one
// CHECK: scf.for [[P:%.*]] = {{.*}} {
// CHECK: scf.for [[K:%.*]] = {{.*}} {
// CHECK: [[NEXT:%.*]] = arith.addi [[P]], {{.*}} : index
// CHECK: [[PANEL:%.*]] = arith.remui [[NEXT]], {{.*}} : index
// CHECK-NEXT: memref.prefetch %W[[[PANEL]], [[K]], {{.*}}], read, locality<2>, data
func.func @one(%A: memref<32xf32>, %W: memref<3x32x16xf32>) {
  loop.for "p" %p to 3 {
    %T = memref.alloc() : memref<16xf32, "local">
    loop.for "k" %k to 32 attributes {loop.prefetch} {
      loop.for "l" %l to 16 vectorized {
        %a = loop.load %A[%k] : memref<32xf32>
        %w = loop.load %W[%p, %k, %l] : memref<3x32x16xf32>
        %c = loop.load %T[%l] : memref<16xf32, "local">
        %m = arith.mulf %a, %w : f32
        %s = arith.addf %c, %m : f32
        loop.store %s, %T[%l] : memref<16xf32, "local">
      }
    }
  }
  func.return
}

// The rest of the rows, in a nest of its own, prefetches nothing.
// CHECK-LABEL: func.func @rest
// CHECK: memref.prefetch
// CHECK-NOT: memref.prefetch
func.func @rest(%A: memref<5x32xf32>, %W: memref<3x32x16xf32>) {
  loop.for "p" %p to 3 {
    loop.for "r" %r to 4 {
      %T = memref.alloc() : memref<16xf32, "local">
      loop.for "k" %k to 32 attributes {loop.prefetch} {
        loop.for "l" %l to 16 vectorized {
          %a = loop.load %A[%r, %k] : memref<5x32xf32>
          %w = loop.load %W[%p, %k, %l] : memref<3x32x16xf32>
          %c = loop.load %T[%l] : memref<16xf32, "local">
          %m = arith.mulf %a, %w : f32
          %s = arith.addf %c, %m : f32
          loop.store %s, %T[%l] : memref<16xf32, "local">
        }
      }
    }
    %R = memref.alloc() : memref<16xf32, "local">
    loop.for "k_tail" %k to 32 attributes {loop.prefetch} {
      loop.for "l_tail" %l to 16 vectorized {
        %a = loop.load %A[4, %k] : memref<5x32xf32>
        %w = loop.load %W[%p, %k, %l] : memref<3x32x16xf32>
        %c = loop.load %R[%l] : memref<16xf32, "local">
        %m = arith.mulf %a, %w : f32
        %s = arith.addf %c, %m : f32
        loop.store %s, %R[%l] : memref<16xf32, "local">
      }
    }
  }
  func.return
}

// Two rows of two tiles share the eight lines of an iteration of the loop "ko": each tile prefetches two, for the same "ko".
// CHECK-LABEL: func.func @terms
// CHECK: scf.for [[P:%.*]] = {{.*}} {
// CHECK: scf.for [[H:%.*]] = {{.*}} {
// CHECK: scf.for [[T:%.*]] = {{.*}} {
// CHECK: scf.for [[KO:%.*]] = {{.*}} {
// CHECK: memref.prefetch %W[{{.*}}, [[KO]], {{.*}}, {{.*}}], read, locality<2>, data : memref<3x4x8x16xf32>
// CHECK: memref.prefetch %W[{{.*}}, [[KO]], {{.*}}, {{.*}}], read, locality<2>, data : memref<3x4x8x16xf32>
// CHECK-NOT: memref.prefetch
func.func @terms(%A: memref<2x2x4x8xf32>, %W: memref<3x4x8x16xf32>) {
  loop.for "p" %p to 3 {
    loop.for "h" %h to 2 {
      loop.for "w" %w to 2 {
        %T = memref.alloc() : memref<16xf32, "local">
        loop.for "ko" %ko to 4 attributes {loop.prefetch} {
          loop.for "ki" %ki to 8 {
            loop.for "l" %l to 16 vectorized {
              %a = loop.load %A[%h, %w, %ko, %ki] : memref<2x2x4x8xf32>
              %b = loop.load %W[%p, %ko, %ki, %l] : memref<3x4x8x16xf32>
              %c = loop.load %T[%l] : memref<16xf32, "local">
              %m = arith.mulf %a, %b : f32
              %s = arith.addf %c, %m : f32
              loop.store %s, %T[%l] : memref<16xf32, "local">
            }
          }
        }
      }
    }
  }
  func.return
}

// An iteration adds two terms for two vectors of columns. Each of four tiles prefetches half of a vector of the next
// panel, one line after the other.
// CHECK-LABEL: func.func @unrolled
// CHECK: scf.for [[P:%.*]] = {{.*}} {
// CHECK: scf.for [[R:%.*]] = {{.*}} {
// CHECK: scf.for [[K:%.*]] = {{.*}} {
// CHECK: [[LINE:%.*]] = arith.addi [[K]], {{.*}} overflow<nsw,nuw>
// CHECK-NEXT: memref.prefetch %W[{{.*}}, [[LINE]], {{.*}}], read, locality<2>, data : memref<6x32x16xf32>
// CHECK-NOT: memref.prefetch
func.func @unrolled(%A: memref<4x32xf32>, %W: memref<6x32x16xf32>) {
  loop.for "p" %p to 3 {
    loop.for "r" %r to 4 {
      %T = memref.alloc() : memref<2x16xf32, "local">
      loop.for "k" %k to 16 attributes {loop.prefetch} {
        loop.for "u" %u to 2 unrolled {
          loop.for "v" %v to 2 unrolled {
            loop.for "l" %l to 16 vectorized {
              %a = loop.load %A[%r, %k * 2 + %u] : memref<4x32xf32>
              %w = loop.load %W[%p * 2 + %v, %k * 2 + %u, %l] : memref<6x32x16xf32>
              %c = loop.load %T[%v, %l] : memref<2x16xf32, "local">
              %m = arith.mulf %a, %w : f32
              %s = arith.addf %c, %m : f32
              loop.store %s, %T[%v, %l] : memref<2x16xf32, "local">
            }
          }
        }
      }
    }
  }
  func.return
}

// The number of panels is an argument. After the last panel, its lines are prefetched again.
// CHECK-LABEL: func.func @open
// CHECK: scf.for [[P:%.*]] = {{.*}} {
// CHECK: scf.for [[K:%.*]] = {{.*}} {
// CHECK: scf.for [[T:%.*]] = {{.*}} {
// CHECK: [[NEXT:%.*]] = arith.addi [[P]], {{.*}} : index
// CHECK: [[LAST:%.*]] = arith.addi %panels, {{.*}} : index
// CHECK: [[PANEL:%.*]] = arith.minsi [[NEXT]], [[LAST]] : index
// CHECK: memref.prefetch %{{.*}}[%{{.*}}], read, locality<2>, data : memref<?xf32>
// CHECK-NOT: memref.prefetch
func.func @open(%A: memref<?x8xf32> {loop.extents = array<i64: 1>}, %W: memref<?x?x8x16xf32> {loop.extents = array<i64: 0, 1>}, %panels: index, %groups: index) {
  loop.for "p" %p to %panels {
    %T = memref.alloc() : memref<16xf32, "local">
    loop.for "k" %k to %groups {
      loop.for "t" %t to 8 attributes {loop.prefetch} {
        loop.for "l" %l to 16 vectorized {
          %a = loop.load %A[%k, %t] : memref<?x8xf32>
          %w = loop.load %W[%p, %k, %t, %l] : memref<?x?x8x16xf32>
          %c = loop.load %T[%l] : memref<16xf32, "local">
          %m = arith.mulf %a, %w : f32
          %s = arith.addf %c, %m : f32
          loop.store %s, %T[%l] : memref<16xf32, "local">
        }
      }
    }
  }
  func.return
}

// Weights whose extents are arguments are prefetched in the innermost loop over the terms of several taps as well.
// CHECK-LABEL: func.func @taps
// CHECK: memref.prefetch
func.func @taps(%A: memref<4x?x3x8xf32> {loop.extents = array<i64: 1>}, %W: memref<?x?x3x8x16xf32> {loop.extents = array<i64: 0, 1>}, %panels: index, %groups: index) {
  loop.for "p" %p to %panels parallel {
    loop.for "r" %r to 4 {
      %T = memref.alloc() : memref<16xf32, "local">
      loop.for "k" %k to %groups {
        loop.for "y" %y to 3 {
          loop.for "t" %t to 8 attributes {loop.prefetch} {
            loop.for "l" %l to 16 vectorized {
              %a = loop.load %A[%r, %k, %y, %t] : memref<4x?x3x8xf32>
              %w = loop.load %W[%p, %k, %y, %t, %l] : memref<?x?x3x8x16xf32>
              %c = loop.load %T[%l] : memref<16xf32, "local">
              %m = arith.mulf %a, %w : f32
              %s = arith.addf %c, %m : f32
              loop.store %s, %T[%l] : memref<16xf32, "local">
            }
          }
        }
      }
    }
  }
  func.return
}

// Each tile prefetches the lines of its own two vectors for eight iterations later, also the rest of the rows.
// CHECK-LABEL: func.func @ahead
// CHECK: [[AHEAD:%.*]] = arith.constant 8 : index
// CHECK: scf.for %p = {{.*}} {
// CHECK: scf.for %r = {{.*}} {
// CHECK: scf.for %k = {{.*}} {
// CHECK: [[LATER:%.*]] = arith.addi %k, [[AHEAD]]
// CHECK-NEXT: memref.prefetch %W[{{.*}}, [[LATER]], {{.*}}], read, locality<3>, data : memref<6x32x16xf32>
// CHECK: [[LATER:%.*]] = arith.addi %k, [[AHEAD]]
// CHECK-NEXT: memref.prefetch %W[{{.*}}, [[LATER]], {{.*}}], read, locality<3>, data : memref<6x32x16xf32>
// CHECK-NOT: memref.prefetch
// CHECK: scf.for %k_1 = {{.*}} {
// CHECK: [[LATER:%.*]] = arith.addi %k_1, [[AHEAD]]
// CHECK-NEXT: memref.prefetch %W[%p, [[LATER]], {{.*}}], read, locality<3>, data : memref<6x32x16xf32>
// CHECK-NOT: memref.prefetch
func.func @ahead(%A: memref<5x32xf32>, %W: memref<6x32x16xf32>) {
  loop.for "p" %p to 3 {
    loop.for "r" %r to 4 {
      %T = memref.alloc() : memref<2x16xf32, "local">
      loop.for "k" %k to 32 attributes {loop.prefetch = 8 : i64} {
        loop.for "v" %v to 2 unrolled {
          loop.for "l" %l to 16 vectorized {
            %a = loop.load %A[%r, %k] : memref<5x32xf32>
            %w = loop.load %W[%p * 2 + %v, %k, %l] : memref<6x32x16xf32>
            %c = loop.load %T[%v, %l] : memref<2x16xf32, "local">
            %m = arith.mulf %a, %w : f32
            %s = arith.addf %c, %m : f32
            loop.store %s, %T[%v, %l] : memref<2x16xf32, "local">
          }
        }
      }
    }
    %R = memref.alloc() : memref<16xf32, "local">
    loop.for "k_tail" %k to 32 attributes {loop.prefetch = 8 : i64} {
      loop.for "l_tail" %l to 16 vectorized {
        %a = loop.load %A[4, %k] : memref<5x32xf32>
        %w = loop.load %W[%p, %k, %l] : memref<6x32x16xf32>
        %c = loop.load %R[%l] : memref<16xf32, "local">
        %m = arith.mulf %a, %w : f32
        %s = arith.addf %c, %m : f32
        loop.store %s, %R[%l] : memref<16xf32, "local">
      }
    }
  }
  func.return
}
