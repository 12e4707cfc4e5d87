#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "emulator/machine/machine.h"

namespace emulator::test {

/// Shape and place of a launch, as a test writes it: `{.grid = {2}, .block = {64}}`.
struct Shape {
  Dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
  int gpu = 0;
  Dim3 cluster{0, 0, 0};  // zeros: what the kernel asks for
};

/// GPUs with their memory, for a test that launches kernels without the runtime.
class Device {
 public:
  explicit Device(int gpus = 1);

  Memory& memory() { return memory_; }
  const GpuModel& model() const { return model_; }
  int gpus() const { return gpus_; }
  /// The GPU whose matrix units count.
  void set_gpu(const std::string& name) { model_.name = name; }

  /// Memory that nothing has written yet.
  std::uintptr_t allocate(std::size_t bytes, int gpu = 0);

  template <class T>
  std::uintptr_t upload(const std::vector<T>& values, int gpu = 0) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::uintptr_t address = allocate(values.size() * sizeof(T), gpu);
    write(address, std::as_bytes(std::span(values)));
    return address;
  }

  /// Throws Fault when the kernels left a byte unwritten.
  template <class T>
  std::vector<T> download(std::uintptr_t address, std::size_t count) {
    std::vector<T> values(count);
    std::memcpy(values.data(),
                memory_.view(address, count * sizeof(T), Access::read, host, "download"),
                count * sizeof(T));
    return values;
  }

 private:
  void write(std::uintptr_t address, std::span<const std::byte> bytes);

  int gpus_;
  GpuModel model_;
  Memory memory_;
};

/// The PTX of `NAME.cu`, which the build lets nvcc write to EMULATOR_TEST_PTX_DIR.
std::string ptx_of(const std::string& name);

/// A parsed PTX text and launches of its kernels.
class Kernels {
 public:
  Kernels(Device& device, std::string_view ptx, const std::string& file = "test.ptx");

  Program& program() { return program_; }

  /// Settings of the following launches. One host thread unless a test says otherwise.
  Settings settings{.seed = 1, .threads = 1, .approximate = false};
  /// Their textures and surfaces.
  ImageObjects images;

  /// Each argument must have the size of its parameter.
  template <class... Arguments>
  void run(const std::string& kernel, const Shape& shape, const Arguments&... arguments) {
    static_assert((std::is_trivially_copyable_v<Arguments> && ...));
    const std::array<std::span<const std::byte>, sizeof...(Arguments)> bytes{
        std::as_bytes(std::span(&arguments, 1))...};
    run_packed(kernel, shape, bytes);
  }

  void run_packed(const std::string& kernel, const Shape& shape,
                  std::span<const std::span<const std::byte>> arguments);

 private:
  Device& device_;
  Program program_;
};

}  // namespace emulator::test
