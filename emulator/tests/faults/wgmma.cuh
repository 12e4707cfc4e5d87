#pragma once

#include <cstdint>

// wgmma in the plainest form: factors of f16 without swizzle, 16 columns of sums.
namespace wgmma {

constexpr unsigned n = 16, k = 16, sums = n / 2;

__device__ inline std::uint64_t descriptor(const void* matrix) {
  const auto at = static_cast<std::uint64_t>(__cvta_generic_to_shared(matrix));
  // 16 bytes of k, then the next ones 128 bytes on; eight rows, then the next ones 256 bytes on.
  return (at & 0x3ffff) >> 4 | std::uint64_t{128 >> 4} << 16 | std::uint64_t{256 >> 4} << 32;
}

/// The place of element (i, l) in a matrix of 16-bit elements.
__device__ inline unsigned place(unsigned i, unsigned l) {
  return i / 8 * 128 + l / 8 * 64 + i % 8 * 8 + l % 8;
}

__device__ inline void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int pending>
__device__ inline void wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}
__device__ inline void fence_proxy() { asm volatile("fence.proxy.async;" ::: "memory"); }

__device__ inline void multiply(float (&d)[sums], std::uint64_t a, std::uint64_t b, int adds = 1) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, "
      "%8, %9, p, 1, 1, 0, 0;\n}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7])
      : "l"(a), "l"(b), "r"(adds));
}

__device__ inline void multiply_registers(float (&d)[sums], unsigned (&a)[4], std::uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, "
      "{%8, %9, %10, %11}, %12, 1, 1, 1, 0;\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+r"(a[0]), "+r"(a[1]), "+r"(a[2]), "+r"(a[3])
      : "l"(b));
}

/// Half of the columns.
__device__ inline void multiply_narrow(float (&d)[sums], std::uint64_t a, std::uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "l"(a), "l"(b));
}

/// Adds to a register where nvcc cannot move it.
__device__ inline void add(float& to, float value) {
  asm volatile("add.f32 %0, %0, %1;" : "+f"(to) : "f"(value));
}

}  // namespace wgmma
