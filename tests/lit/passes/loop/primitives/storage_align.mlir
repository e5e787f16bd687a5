// RUN: xrelay-opt %s -p 'loop-storage-align{block=copy dimension=0 factor=1024 offset=16}' | filecheck %s
// RUN: xrelay-opt %s -p 'loop-storage-align{block=copy dimension=0 factor=16}' | filecheck %s --check-prefix SAME
// RUN: xrelay-opt %s -p 'loop-storage-align{block=deep dimension=0 factor=16}' | filecheck %s --check-prefix DEEP
// RUN: not xrelay-opt %s -p 'loop-storage-align{block=deep dimension=0 factor=16 offset=1}' 2>&1 | filecheck %s --check-prefix OFFSET
// RUN: not xrelay-opt %s -p 'loop-storage-align{block=copy dimension=1 factor=16}' 2>&1 | filecheck %s --check-prefix LAST
// RUN: not xrelay-opt %s -p 'loop-storage-align{block=back dimension=0 factor=16}' 2>&1 | filecheck %s --check-prefix ARGUMENT

// OFFSET: error: storage_align("deep", 0, 16, offset = 1): block 'deep': every distance along dimension 0 is a multiple of 6; help: choose another offset
// LAST: error: storage_align("copy", 1, 16): block 'copy': dimension 1 of memref<64x1024xf32> has no dimension after it; help: name a dimension before the last
// ARGUMENT: error: storage_align("back", 0, 16): block 'back': it writes an argument of the kernel; help: use cache_write or cache_read first

// CHECK-LABEL: func.func private @copies
// CHECK: %a = memref.alloc() : memref<64x1040xf32>
// CHECK: loop.for "k" %k to 1024 {
// CHECK: loop.store %{{.*}}, %a[%vi, %vk] : memref<64x1040xf32>
// SAME: %a = memref.alloc() : memref<64x1024xf32>
func.func private @copies(%A: memref<64x1024xf32>, %Y: memref<64x1024xf32>) attributes {loop.kernel} {
  %a = memref.alloc() : memref<64x1024xf32>
  loop.for "i" %i to 64 {
    loop.for "k" %k to 1024 {
      loop.block "copy" (%vi : spatial 64 = %i, %vk : spatial 1024 = %k) reads(%A) writes(%a) {
        %x = loop.load %A[%vi, %vk] : memref<64x1024xf32>
        loop.store %x, %a[%vi, %vk] : memref<64x1024xf32>
      }
    }
  }
  loop.for "r" %r to 64 {
    loop.for "c" %c to 1024 {
      loop.block "back" (%vi : spatial 64 = %r, %vk : spatial 1024 = %c) reads(%a) writes(%Y) {
        %x = loop.load %a[%vi, %vk] : memref<64x1024xf32>
        loop.store %x, %Y[%vi, %vk] : memref<64x1024xf32>
      }
    }
  }
  func.return
}

// Steps of 7 * 6 elements become steps of 8 * 6.
// DEEP: %b = memref.alloc() : memref<5x8x2x3xf32>
func.func private @deep(%X: memref<5x7x2x3xf32>) attributes {loop.kernel} {
  %b = memref.alloc() : memref<5x7x2x3xf32>
  loop.for "i" %i to 5 {
    loop.block "deep" (%v : spatial 5 = %i) reads(%X) writes(%b) {
      %x = loop.load %X[%v, 0, 0, 0] : memref<5x7x2x3xf32>
      loop.store %x, %b[%v, 0, 0, 0] : memref<5x7x2x3xf32>
    }
  }
  func.return
}
