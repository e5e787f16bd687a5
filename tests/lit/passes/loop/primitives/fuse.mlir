// RUN: xrelay-opt %s -p 'loop-fuse{outer=n inner=c}' | filecheck %s
// RUN: xrelay-opt %s -p 'loop-fuse{outer=n inner=c into=p},loop-split{loop=p factor=8}' | filecheck %s --check-prefix AGAIN
// RUN: not xrelay-opt %s -p 'loop-fuse{outer=c inner=n}' 2>&1 | filecheck %s --check-prefix NOT

// CHECK: loop.for "n_c" %n_c to 16 {
// CHECK-NEXT: loop.block "copy" (%vn : spatial 2 = %n_c floordiv 8, %vc : spatial 8 = %n_c mod 8)
// Splitting by the inner extent restores the loops.
// AGAIN: loop.block "copy" (%vn : spatial 2 = %p_o, %vc : spatial 8 = %p_i)
// NOT: error: fuse("c", "n"): loop 'c': 'n' is not the only op directly inside it; help: bring the two loops next to each other with reorder
func.func private @copy(%X: memref<2x8xf32>, %Y: memref<2x8xf32>) attributes {loop.kernel} {
  loop.for "n" %n to 2 {
    loop.for "c" %c to 8 {
      loop.block "copy" (%vn : spatial 2 = %n, %vc : spatial 8 = %c) reads(%X) writes(%Y) {
        %x = loop.load %X[%vn, %vc] : memref<2x8xf32>
        loop.store %x, %Y[%vn, %vc] : memref<2x8xf32>
      }
    }
  }
  func.return
}
