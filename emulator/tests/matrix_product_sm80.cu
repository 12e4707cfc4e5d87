#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

// Products of 64 x 64 x 64 as programs write them: c += a b, a by rows and b by columns. A block
// has 4 warps; each computes 16 rows.
namespace {

constexpr int n = 64;
using namespace nvcuda;

template <class T, class Sum, class Element = T, int k = 16>
__device__ void multiply(const Element* a, const Element* b, Sum* c) {
  const int row = 16 * (threadIdx.x / 32);
  for (int column = 0; column < n; column += 16) {
    wmma::fragment<wmma::accumulator, 16, 16, k, Sum> sum;
    wmma::load_matrix_sync(sum, c + row * n + column, n, wmma::mem_row_major);
    for (int l = 0; l < n; l += k) {
      wmma::fragment<wmma::matrix_a, 16, 16, k, T, wmma::row_major> left;
      wmma::fragment<wmma::matrix_b, 16, 16, k, T, wmma::col_major> right;
      wmma::load_matrix_sync(left, a + row * n + l, n);
      wmma::load_matrix_sync(right, b + column * n + l, n);
      if constexpr (k == 8) {
        for (int i = 0; i < left.num_elements; ++i) left.x[i] = wmma::__float_to_tf32(left.x[i]);
        for (int i = 0; i < right.num_elements; ++i) right.x[i] = wmma::__float_to_tf32(right.x[i]);
      }
      wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
  }
}

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

}  // namespace

extern "C" __global__ void wmma_f16(const half* a, const half* b, float* c) {
  multiply<half, float>(a, b, c);
}
extern "C" __global__ void wmma_f16_f16(const half* a, const half* b, half* c) {
  multiply<half, half>(a, b, c);
}
extern "C" __global__ void wmma_bf16(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) {
  multiply<__nv_bfloat16, float>(a, b, c);
}
extern "C" __global__ void wmma_s8(const signed char* a, const signed char* b, int* c) {
  multiply<signed char, int>(a, b, c);
}
extern "C" __global__ void wmma_tf32(const float* a, const float* b, float* c) {
  multiply<wmma::precision::tf32, float, float, 8>(a, b, c);
}

// b lies by rows here, so that its fragments come from transposed matrices.
extern "C" __global__ void mma_f16(const uint4* a, const uint4* b, float* c) {
  constexpr int padded = n + 8;
  __shared__ __align__(16) half left[n][padded], right[n][padded];
  for (int i = threadIdx.x; i < n * n / 8; i += blockDim.x) {
    *reinterpret_cast<uint4*>(&left[i / 8][i % 8 * 8]) = a[i];
    *reinterpret_cast<uint4*>(&right[i / 8][i % 8 * 8]) = b[i];
  }
  __syncthreads();
  const int lane = threadIdx.x % 32, row = 16 * (threadIdx.x / 32);
  for (int column = 0; column < n; column += 8) {
    float* at = c + (row + lane / 4) * n + column + lane % 4 * 2;
    float sums[] = {at[0], at[1], at[8 * n], at[8 * n + 1]};
    for (int l = 0; l < n; l += 16) {
      unsigned x[4], y[2];
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                   : "r"(shared_address(&left[row + lane % 16][l + lane / 16 * 8])));
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                   : "=r"(y[0]), "=r"(y[1])
                   : "r"(shared_address(&right[l + lane % 16][column])));
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
          "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
          : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
          : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    }
    at[0] = sums[0], at[1] = sums[1], at[8 * n] = sums[2], at[8 * n + 1] = sums[3];
  }
}
