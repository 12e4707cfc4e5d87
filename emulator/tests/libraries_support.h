#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

// Shared by the tests of the stand-ins of libraries: GPUs, their memory, and faults.
namespace emulator {

/// Chooses the GPUs. One at namespace scope acts before the first call of CUDA.
struct EmulatedGpus {
  EmulatedGpus(const char* model, int count) {
    setenv("ASSAY_EMULATED_GPU", model, 1);
    setenv("ASSAY_EMULATED_GPUS", std::to_string(count).c_str(), 1);
  }
};

/// Sets the libraries' faults for a test.
class WithFault {
 public:
  explicit WithFault(const char* names) { setenv("ASSAY_EMULATOR_FAULT", names, 1); }
  ~WithFault() { unsetenv("ASSAY_EMULATOR_FAULT"); }
  WithFault(const WithFault&) = delete;
  WithFault& operator=(const WithFault&) = delete;
};

/// Memory of the current device with the elements of a vector, or with none written.
template <class T>
class OnGpu {
 public:
  explicit OnGpu(std::size_t count) : count_(count) {
    EXPECT_EQ(cudaMalloc(&data_, count * sizeof(T)), cudaSuccess);
  }
  explicit OnGpu(const std::vector<T>& elements) : OnGpu(elements.size()) {
    EXPECT_EQ(
        cudaMemcpy(data_, elements.data(), elements.size() * sizeof(T), cudaMemcpyHostToDevice),
        cudaSuccess);
  }
  ~OnGpu() { cudaFree(data_); }
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;

  T* data() const { return static_cast<T*>(data_); }
  /// Waits for the device's work.
  std::vector<T> elements() const {
    std::vector<T> copy(count_);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(copy.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost),
              cudaSuccess);
    return copy;
  }

 private:
  void* data_ = nullptr;
  std::size_t count_;
};

/// Numbers that look random, the same in each run.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 1) {}
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    return state_ ^= state_ << 17;
  }
  /// In [-1, 1).
  double real() { return static_cast<double>(next() >> 11) * 0x1p-52 - 1; }

 private:
  std::uint64_t state_;
};

}  // namespace emulator
