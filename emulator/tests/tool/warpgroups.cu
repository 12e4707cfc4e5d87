// Multiplies matrices with wgmma and looks at the product or, with a word on the command line, has
// one of the bugs that planted.cu describes.
#include <cstdio>
#include <cstring>
#include <vector>

#include "emulator/tests/faults/wgmma.cuh"
#include "emulator/tests/tiled_product_sm90a.cu"

namespace {

constexpr unsigned m = 256, n = 128, k = 192;
constexpr unsigned shared_bytes = stages * sizeof(Stage);

struct Factors {
  std::uint16_t a[64 * wgmma::k], b[wgmma::n * wgmma::k];
};

__device__ void fill(Factors& factors) {
  for (unsigned i = threadIdx.x; i < 64 * wgmma::k; i += blockDim.x) factors.a[i] = 0;
  for (unsigned i = threadIdx.x; i < wgmma::n * wgmma::k; i += blockDim.x) factors.b[i] = 0;
}

__global__ void no_proxy_fence(float* out) {
  __shared__ alignas(128) Factors factors;
  fill(factors);
  __syncthreads();
  float d[wgmma::sums];
  wgmma::fence();
  // BUG no_proxy_fence
  wgmma::multiply(d, wgmma::descriptor(factors.a), wgmma::descriptor(factors.b), 0);
  wgmma::commit();
  wgmma::wait<0>();
  out[threadIdx.x] = d[0];
}

__global__ void sums_too_early(float* out) {
  __shared__ alignas(128) Factors factors;
  fill(factors);
  wgmma::fence_proxy();
  __syncthreads();
  float d[wgmma::sums];
  wgmma::fence();
  wgmma::multiply(d, wgmma::descriptor(factors.a), wgmma::descriptor(factors.b), 0);
  wgmma::commit();
  // BUG sums_too_early
  wgmma::add(d[0], 1);
  wgmma::wait<0>();
  out[threadIdx.x] = d[0];
}

__global__ void overwritten_factor(float* out) {
  __shared__ alignas(128) Factors factors;
  fill(factors);
  wgmma::fence_proxy();
  __syncthreads();
  float d[wgmma::sums];
  wgmma::fence();
  wgmma::multiply(d, wgmma::descriptor(factors.a), wgmma::descriptor(factors.b), 0);
  wgmma::commit();
  // BUG overwritten_factor
  factors.a[threadIdx.x] = 1;
  wgmma::wait<0>();
  out[threadIdx.x] = d[0];
}

__global__ void absent_warp(float* out) {
  __shared__ alignas(128) Factors factors;
  fill(factors);
  wgmma::fence_proxy();
  __syncthreads();
  float d[wgmma::sums];
  wgmma::fence();
  if (threadIdx.x < 96)
    // BUG absent_warp
    wgmma::multiply(d, wgmma::descriptor(factors.a), wgmma::descriptor(factors.b), 0);
  // BUG absent_warp
  wgmma::commit();
  wgmma::wait<0>();
  out[threadIdx.x] = d[0];
}

/// Whole numbers below 1024, whose products are exact, as f16.
std::uint16_t half(unsigned value) {
  if (value == 0) return 0;
  unsigned exponent = 0;
  while (value >> (exponent + 1) != 0) ++exponent;
  return static_cast<std::uint16_t>((exponent + 15) << 10 | (value << (10 - exponent) & 0x3ff));
}

bool is_product_right() {
  std::vector<unsigned> a(m * k), b(k * n);
  for (unsigned i = 0; i < a.size(); ++i) a[i] = i * 7 % 13;
  for (unsigned i = 0; i < b.size(); ++i) b[i] = i * 5 % 11;
  std::vector<std::uint16_t> a_bits, b_bits;
  for (const unsigned value : a) a_bits.push_back(half(value));
  for (const unsigned value : b) b_bits.push_back(half(value));
  std::uint16_t *a_there = nullptr, *b_there = nullptr;
  float* d_there = nullptr;
  cudaMalloc(&a_there, 2 * a.size());
  cudaMalloc(&b_there, 2 * b.size());
  cudaMalloc(&d_there, m * n * sizeof(float));
  cudaMemcpy(a_there, a_bits.data(), 2 * a.size(), cudaMemcpyHostToDevice);
  cudaMemcpy(b_there, b_bits.data(), 2 * b.size(), cudaMemcpyHostToDevice);
  cudaFuncSetAttribute(tiled_product, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  tiled_product<<<dim3(n / tile_n, m / 128), 256, shared_bytes>>>(a_there, b_there, d_there, n, k,
                                                                  0);
  std::vector<float> d(m * n);
  if (cudaMemcpy(d.data(), d_there, m * n * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess)
    return false;
  for (unsigned i = 0; i < m; ++i)
    for (unsigned j = 0; j < n; ++j) {
      unsigned sum = 0;
      for (unsigned l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];
      if (d[i * n + j] != static_cast<float>(sum)) return false;
    }
  return true;
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) {
    const bool is_right = is_product_right();
    std::printf("%s\n", is_right ? "right" : "wrong");
    return is_right ? 0 : 1;
  }
  const auto is = [&](const char* bug) { return std::strcmp(words[1], bug) == 0; };
  float* out = nullptr;
  cudaMalloc(&out, 128 * sizeof(float));
  if (is("no_proxy_fence")) no_proxy_fence<<<1, 128>>>(out);
  if (is("sums_too_early")) sums_too_early<<<1, 128>>>(out);
  if (is("overwritten_factor")) overwritten_factor<<<1, 128>>>(out);
  if (is("absent_warp")) absent_warp<<<1, 128>>>(out);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
