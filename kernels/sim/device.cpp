#include "kernels/sim/device.h"

namespace assay::sim {

SimDevice::SimDevice(DeviceInfo info)
    : info_(std::move(info)),
      cpu_(info_),
      memory_(static_cast<std::size_t>(info_.memory_total_bytes.value_or(0))) {}

void SimDevice::upload(void* to, const void* from_host, std::size_t bytes) {
  cpu_.upload(memory_.host(to), from_host, bytes);
}

void SimDevice::download(void* to_host, const void* from, std::size_t bytes) {
  cpu_.download(to_host, memory_.host(from), bytes);
}

void SimDevice::fill(void* to, std::byte value, std::size_t bytes) {
  cpu_.fill(memory_.host(to), value, bytes);
}

std::unique_ptr<Kernel> SimDevice::prepare(const OpInstance& op, const Binding& binding) {
  return cpu_.prepare(op, on_host(binding));
}

Binding SimDevice::on_host(const Binding& binding) const {
  Binding host{binding.stream, {}, {}};
  for (const void* input : binding.inputs) host.inputs.push_back(memory_.host(input));
  for (const void* output : binding.outputs) host.outputs.push_back(memory_.host(output));
  return host;
}

}  // namespace assay::sim
