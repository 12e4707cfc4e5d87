#include "emulator/runtime/work.h"

#include <utility>

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
  return cudaStreamGetDevice(stream, device);
}

int gpu_of(int device) {
  const Devices& devices = process().devices;
  return devices.is_ordinal(device) ? devices.gpu(device) : -1;
}

const GpuModel& model_of(int gpu) { return process().devices.model(gpu); }

int gpu_count() { return static_cast<int>(process().devices.gpus.size()); }

std::string uuid_of(int gpu) { return uuid_text(gpu, false); }

int pci_bus_of(int gpu) { return pci_bus(gpu); }

bool has_mig_slices() { return process().devices.is_mig; }

Memory& memory() { return process().memory; }

void report(const Fault& fault) {
  Process& p = process();
  const Lock lock(p.mutex);
  stick(p, fault);
}

}  // namespace emulator
