#include "emulator/runtime/devices.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "emulator/runtime/gpus.h"
#include "emulator/runtime/say.h"
#include "emulator/runtime/visibility.h"

namespace emulator {
namespace {

int number(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr || *text == '\0' ? otherwise : std::atoi(text);
}

}  // namespace

Devices Devices::from_environment() {
  Devices devices;
  const int count = number("ASSAY_EMULATED_GPUS", 0);
  const char* name = std::getenv("ASSAY_EMULATED_GPU");
  const GpuModel* model = find_gpu_model(name == nullptr || *name == '\0' ? "t4" : name);
  if (model == nullptr || count < 0 || count > 64) {
    give_up("ASSAY_EMULATED_GPUS=" + std::to_string(count) +
            ", ASSAY_EMULATED_GPU=" + std::string(name == nullptr ? "" : name) + ": no such GPUs");
  }
  devices.is_mig = number("ASSAY_EMULATOR_MIG", 0) != 0;
  devices.has_peers = number("ASSAY_EMULATOR_PEERS", 1) != 0;
  devices.is_shared_by_mps = number("ASSAY_EMULATOR_MPS", 0) != 0;
  if (const char* bytes = std::getenv("ASSAY_EMULATOR_OTHERS_BYTES"); bytes != nullptr) {
    devices.others_bytes = std::strtoull(bytes, nullptr, 10);
  }
  if (const char* folder = std::getenv("ASSAY_EMULATOR_EXCLUSIVE"); folder != nullptr) {
    devices.exclusive_folder = folder;
  }
  devices.gpus.assign(static_cast<std::size_t>(count),
                      devices.is_mig ? mig_slice_of(*model) : *model);
  std::vector<std::string> uuids;
  for (int gpu = 0; gpu < count; ++gpu) uuids.push_back(uuid_text(gpu, devices.is_mig));
  const std::vector<int> order =
      device_order(std::getenv("CUDA_DEVICE_ORDER"), count, number("ASSAY_EMULATOR_FASTEST", 0));
  devices.visible = visible_gpus(std::getenv("CUDA_VISIBLE_DEVICES"), order, uuids);
  // "CUDA can only enumerate a single compute instance": MIG User Guide.
  if (devices.is_mig && devices.visible.size() > 1)
    devices.visible.erase(devices.visible.begin() + 1, devices.visible.end());
  return devices;
}

int Devices::ordinal_of(int gpu) const {
  const auto found = std::ranges::find(visible, gpu);
  return found == visible.end() ? -1 : static_cast<int>(found - visible.begin());
}

bool Devices::can_access_peer(int device, int peer) const {
  return has_peers && !is_mig && device != peer;
}

std::array<unsigned char, 16> uuid_bytes(int gpu, bool is_mig_slice) {
  std::mt19937 random(static_cast<unsigned>(2 * gpu + (is_mig_slice ? 1 : 0)) + 0x5eed);
  std::array<unsigned char, 16> bytes;
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  return bytes;
}

std::string uuid_text(int gpu, bool is_mig_slice) {
  std::string text = is_mig_slice ? "MIG" : "GPU";
  const auto bytes = uuid_bytes(gpu, is_mig_slice);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    std::array<char, 4> hex;
    std::snprintf(hex.data(), hex.size(), "%02x", bytes[i]);
    text += hex.data();
  }
  return text;
}

int driver_version() { return number("ASSAY_EMULATOR_DRIVER", CUDART_VERSION); }

int pci_bus(int gpu) { return 1 + 0x10 * (gpu % 16) + gpu / 16; }

}  // namespace emulator
