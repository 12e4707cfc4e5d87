// A program as a user writes it, built as the help of emulate-gpu says: tool_test.cpp runs it.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void reverse(float* a) {
  __shared__ float tile[64];
  tile[threadIdx.x] = 0;
  __syncthreads();
  tile[threadIdx.x] = a[threadIdx.x];
  a[threadIdx.x] = tile[63 - threadIdx.x];
}

static int check(cudaError_t error) {
  if (error == cudaSuccess) return 0;
  std::fprintf(stderr, "error: %s\n", cudaGetErrorName(error));
  return 1;
}

int main(int count, char** words) {
  const char* what = count > 1 ? words[1] : "add";
  if (std::strcmp(what, "nothing") == 0) return 0;
  if (std::strcmp(what, "crash") == 0) std::abort();
  if (std::strcmp(what, "properties") == 0) {
    cudaDeviceProp properties;
    if (check(cudaGetDeviceProperties(&properties, 0)) != 0) return 1;
    std::printf("%s, %d.%d, %d multiprocessors\n", properties.name, properties.major,
                properties.minor, properties.multiProcessorCount);
    return 0;
  }
  constexpr int n = 1000;
  static float values[n];
  for (int i = 0; i < n; ++i) values[i] = static_cast<float>(i);
  float *a = nullptr, *c = nullptr;
  if (check(cudaMalloc(&a, sizeof values)) || check(cudaMalloc(&c, sizeof values))) return 1;
  if (check(cudaMemcpy(a, values, sizeof values, cudaMemcpyHostToDevice))) return 1;
  if (std::strcmp(what, "race") == 0) reverse<<<1, 64>>>(a);
  add<<<(n + 255) / 256, 256>>>(a, a, c, n);
  const int failed = check(cudaMemcpy(values, c, sizeof values, cudaMemcpyDeviceToHost));
  std::printf("%.0f\n", values[n - 1]);
  return std::strcmp(what, "ignore") == 0 ? 0 : std::strcmp(what, "three") == 0 ? 3 : failed;
}
