#pragma once

#include <cuda_runtime_api.h>
#include <fatbinary_section.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

// Called by nvcc's generated code before main.
extern "C" {
void** __cudaRegisterFatBinary(void* fat_binary);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* host_function, char* device_function,
                            const char* name, int thread_limit, uint3*, uint3*, dim3*, dim3*, int*);
}

namespace emulator {

/// PTX in a fat binary as nvcc makes one, registered as its generated code does.
class EmbeddedKernels {
 public:
  explicit EmbeddedKernels(std::string_view ptx, std::uint32_t architecture = 75) {
    constexpr std::uint64_t entry_header_bytes = 80;
    std::string padded(ptx);
    padded.resize((padded.size() + 8) / 8 * 8);
    append<std::uint32_t>(0xBA55ED50);
    append<std::uint16_t>(1);
    append<std::uint16_t>(16);
    append<std::uint64_t>(entry_header_bytes + padded.size());
    append<std::uint16_t>(1);  // PTX
    append<std::uint16_t>(0x101);
    append<std::uint32_t>(entry_header_bytes);
    append<std::uint64_t>(padded.size());
    for (int i = 0; i < 3; ++i) append<std::uint32_t>(0);
    append<std::uint32_t>(architecture);
    image_.resize(16 + entry_header_bytes);
    image_.insert(image_.end(), padded.begin(), padded.end());
    wrapper_ = {FATBINC_MAGIC, FATBINC_VERSION,
                reinterpret_cast<const unsigned long long*>(image_.data()), nullptr};
    handle_ = __cudaRegisterFatBinary(&wrapper_);
  }
  ~EmbeddedKernels() { __cudaUnregisterFatBinary(handle_); }
  EmbeddedKernels(const EmbeddedKernels&) = delete;
  EmbeddedKernels& operator=(const EmbeddedKernels&) = delete;

  /// Registers a kernel under the address of `symbol`, which stands for its stub on the host.
  void add(const char* name, const char& symbol) {
    __cudaRegisterFunction(handle_, &symbol, nullptr, name, -1, nullptr, nullptr, nullptr, nullptr,
                           nullptr);
  }

 private:
  template <class T>
  void append(T value) {
    const std::size_t at = image_.size();
    image_.resize(at + sizeof value);
    std::memcpy(image_.data() + at, &value, sizeof value);
  }

  std::vector<char> image_;
  __fatBinC_Wrapper_t wrapper_;
  void** handle_;
};

}  // namespace emulator
