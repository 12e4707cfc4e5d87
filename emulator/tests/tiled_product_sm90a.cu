// d = a * b of f16 in f32 by warpgroups, tile by tile along k. Plain stores fill shared memory.
// Layouts: a by rows and swizzled over 128 bytes; b by rows (columns of sums along a row), which is
// N-major and swizzled over 128 bytes too.
#include <cstdint>

namespace {

constexpr unsigned tile_n = 64, tile_k = 64, stages = 2;

struct Stage {
  std::uint16_t a[128 * tile_k], b[tile_k * tile_n];
};

// Of 64 elements in a row: 16 bytes are exchanged by the row.
__device__ unsigned swizzled(unsigned row, unsigned column) {
  return row * 64 + ((column / 8) ^ (row % 8)) * 8 + column % 8;
}

__device__ std::uint64_t descriptor(const void* at, unsigned leading_bytes, unsigned stride_bytes) {
  const auto offset = static_cast<std::uint64_t>(__cvta_generic_to_shared(at));
  return (offset & 0x3ffff) >> 4 | std::uint64_t{leading_bytes >> 4} << 16 |
         std::uint64_t{stride_bytes >> 4} << 32 | std::uint64_t{1} << 62;
}

__device__ void multiply(float (&d)[32], std::uint64_t a, std::uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, 1, 1, 1, 0, 1;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "l"(a), "l"(b));
}

}  // namespace

// Two warpgroups have 64 rows each; a product runs while the next tile is filled. `early`: the
// mistake of not waiting for the one that reads it.
extern "C" __global__ void tiled_product(const std::uint16_t* a, const std::uint16_t* b, float* d,
                                         unsigned n, unsigned k, int early) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto* const shared = reinterpret_cast<Stage*>(memory);
  const unsigned t = threadIdx.x, group = t / 128;
  const unsigned first_row = blockIdx.y * 128, first_column = blockIdx.x * tile_n;
  float sums[32];
  for (float& sum : sums) sum = 0;
  for (unsigned tile = 0; tile < k / tile_k; ++tile) {
    Stage& stage = shared[tile % stages];
    for (unsigned i = t; i < 128 * tile_k; i += 256) {
      const unsigned row = i / tile_k, l = i % tile_k;
      stage.a[swizzled(row, l)] = a[(first_row + row) * k + tile * tile_k + l];
    }
    for (unsigned i = t; i < tile_k * tile_n; i += 256) {
      const unsigned l = i / tile_n, column = i % tile_n;
      stage.b[swizzled(l, column)] = b[(tile * tile_k + l) * n + first_column + column];
    }
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (unsigned l = 0; l < tile_k; l += 16)
      multiply(sums, descriptor(stage.a + group * 64 * tile_k + l, 16, 1024),
               descriptor(stage.b + l * tile_n, 0, 1024));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    if (early == 0) {
      asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
      __syncthreads();  // the stage before the last one is free
    }
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned row = group * 64 + t % 128 / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8;
    const unsigned column = i / 4 * 8 + t % 4 * 2 + i % 2;
    d[(first_row + row) * n + first_column + column] = sums[i];
  }
}
