#include "emulator/tests/device.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace emulator::test {
namespace {

constexpr std::size_t bytes_per_gpu = std::size_t{256} << 20;

}  // namespace

Device::Device(int gpus)
    : gpus_(gpus),
      memory_(std::vector<std::size_t>(static_cast<std::size_t>(gpus), bytes_per_gpu)) {
  model_.name = "test";
  model_.product = "Test GPU";
  model_.multiprocessors = 4;
  model_.memory_bytes = bytes_per_gpu;
}

std::uintptr_t Device::allocate(std::size_t bytes, int gpu) {
  const std::uintptr_t address = memory_.allocate(gpu, bytes);
  if (address == 0) throw std::runtime_error("the emulated GPU is full");
  return address;
}

void Device::write(std::uintptr_t address, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  std::ranges::copy(bytes,
                    memory_.view(address, bytes.size(), Access::write, host, "Device::upload"));
}

std::string ptx_of(const std::string& name) {
  const std::string path = EMULATOR_TEST_PTX_DIR "/" + name + ".ptx";
  std::ifstream file(path);
  if (!file) throw std::runtime_error("no file " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Kernels::Kernels(Device& device, std::string_view ptx, const std::string& file)
    : device_(device), program_(ptx, file, device.memory(), device.gpus()) {}

void Kernels::run_packed(const std::string& kernel, const Shape& shape,
                         std::span<const std::span<const std::byte>> arguments) {
  const auto parameters = program_.parameters(kernel);
  if (parameters.size() != arguments.size()) {
    throw std::runtime_error(kernel + " has " + std::to_string(parameters.size()) + " parameters");
  }
  Launch launch;
  launch.kernel = kernel;
  launch.grid = shape.grid;
  launch.block = shape.block;
  launch.cluster = shape.cluster;
  launch.dynamic_shared_bytes = shape.dynamic_shared_bytes;
  launch.gpu = shape.gpu;
  launch.images = std::make_shared<const ImageObjects>(images);
  launch.parameters.resize(program_.facts(kernel).parameter_bytes);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (parameters[i].bytes != arguments[i].size()) {
      throw std::runtime_error(kernel + ": parameter " + std::to_string(i) + " has " +
                               std::to_string(parameters[i].bytes) + " bytes");
    }
    std::ranges::copy(arguments[i], launch.parameters.begin() +
                                        static_cast<std::ptrdiff_t>(parameters[i].offset));
  }
  execute(program_, launch, device_.model(), device_.memory(), settings);
}

}  // namespace emulator::test
