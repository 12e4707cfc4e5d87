#include "emulator/runtime/work.h"

#include <utility>

#include "emulator/runtime/gpus.h"
#include "emulator/runtime/streams.h"

namespace emulator {

cudaError_t enqueue(cudaStream_t handle, const std::string& name, std::function<Step()> step) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto stream = find_stream(p, handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    return submit(p, *stream, {name, [step = std::move(step)] {
                                 return step() == Step::done ? Progress::done : Progress::waits;
                               }});
  });
}

cudaError_t device_of(cudaStream_t stream, int* device) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto found = find_stream(p, stream);
    if (found == nullptr) return cudaErrorInvalidResourceHandle;
    *device = found->device;
    return cudaSuccess;
  });
}

int gpu_of(int device) {
  const Devices& devices = process().devices;
  return devices.is_ordinal(device) ? devices.gpu(device) : -1;
}

const GpuModel& model_of(int gpu) { return process().devices.model(gpu); }

int gpu_count() { return static_cast<int>(process().devices.gpus.size()); }

std::string uuid_of(int gpu) { return uuid_text(gpu, false); }

std::string slice_uuid_of(int gpu) { return uuid_text(gpu, true); }

int pci_bus_of(int gpu) { return pci_bus(gpu); }

int version_of_driver() { return driver_version(); }

bool has_mig_slices() { return process().devices.is_mig; }

bool has_multicast(int gpu) {
  constexpr int links_to_switches =
      18;  // of SXM boards; a pair of PCIe boards has 12, and a bridge
  const GpuModel& model = model_of(gpu);
  return model.major >= 9 && model.nvlinks >= links_to_switches;
}

std::size_t board_bytes(int gpu) { return find_gpu_model(model_of(gpu).name)->memory_bytes; }

std::size_t others_bytes() { return process().devices.others_bytes; }

Memory& memory() { return process().memory; }

void report(const Fault& fault) {
  Process& p = process();
  const Lock lock(p.mutex);
  stick(p, fault);
}

}  // namespace emulator
