#include "kernels/cuda/clock_reader.h"

#include <cuda_runtime.h>

#include <new>

#include "kernels/cuda/current.h"
#include "kernels/cuda/error.h"

namespace assay::cuda {
namespace {

/// Reads of the timer before giving up: some microseconds.
constexpr int max_reads = 200;

__device__ unsigned long long timer_ns() {
  unsigned long long ns = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

__global__ void read_clock(volatile ClockReading* reading) {
  const unsigned long long first_ns = timer_ns();
  unsigned long long ns = first_ns;
  for (int i = 0; i < max_reads && ns == first_ns; ++i) ns = timer_ns();
  reading->cycles = clock64();
  reading->ns = ns == first_ns ? 0 : ns;
  unsigned multiprocessor = 0;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
  reading->multiprocessor = multiprocessor;
}

void read(ClockReading& reading, cudaStream_t stream) {
  read_clock<<<1, 1, 0, stream>>>(&reading);
  check(cudaGetLastError(), "a kernel that reads the clock");
}

}  // namespace

ClockReader::ClockReader() {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, sizeof(Readings), cudaHostAllocPortable), "cudaHostAlloc");
  readings_ = new (memory) Readings{};
  // Loads the kernel now: behind a blocked stream that could wait for the stream.
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, read_clock), "cudaFuncGetAttributes");
}

ClockReader::~ClockReader() { ignore(cudaFreeHost(readings_)); }

void ClockReader::begin(cudaStream_t stream) { read(readings_->begin, stream); }

void ClockReader::end(cudaStream_t stream) { read(readings_->end, stream); }

std::optional<double> ClockReader::clock_hz() const {
  return cuda::clock_hz(readings_->begin, readings_->end);
}

}  // namespace assay::cuda
