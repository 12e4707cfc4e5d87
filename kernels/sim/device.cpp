#include "kernels/sim/device.h"

#include <algorithm>
#include <cmath>

#include "kernels/core/clock.h"
#include "kernels/device/view_kernel.h"
#include "kernels/ops/views.h"
#include "kernels/sim/kernel.h"
#include "kernels/sim/narrow_matmul.h"

namespace assay::sim {
namespace {

/// Wraps the CPU's stream, whose clock tells `reported_share` of the time.
class SimStream final : public Stream {
 public:
  SimStream(std::unique_ptr<Stream> cpu, std::string uuid, double reported_share)
      : cpu_(std::move(cpu)), uuid_(std::move(uuid)), reported_share_(reported_share) {}
  std::string device_uuid() const override { return uuid_; }
  std::unique_ptr<Event> create_event() override { return cpu_->create_event(); }
  void record(Event& event) override { cpu_->record(event); }
  double elapsed_s(const Event& start, const Event& stop) override {
    return reported_share_ * cpu_->elapsed_s(start, stop);
  }
  void synchronize() override { cpu_->synchronize(); }
  void flush_caches() override { cpu_->flush_caches(); }

 private:
  std::unique_ptr<Stream> cpu_;
  std::string uuid_;
  double reported_share_;
};

}  // namespace

SimDevice::SimDevice(DeviceInfo info, int index, const std::vector<Fault>& faults,
                     std::shared_ptr<Peers> peers)
    : info_(std::move(info)),
      next_uuid_("SIM-" + std::to_string(index + 1)),
      faults_(faults, index),
      cpu_(info_),
      memory_(static_cast<std::size_t>(info_.memory_total_bytes.value_or(0))),
      peers_(std::move(peers)) {
  peers_->push_back(this);
}

DeviceCondition SimDevice::condition() const {
  constexpr double power_w = 10;
  constexpr double update_s = 5e-3;
  const double counted_s = faults_.has(FaultKind::stuck_meter) ? 0 : steady_s();
  return {.power_w = power_w, .energy_j = power_w * update_s * std::floor(counted_s / update_s)};
}

SimDevice::~SimDevice() { std::erase(*peers_, this); }

std::string SimDevice::owner_uuid(const void* memory) const {
  if (faults_.has(FaultKind::claims_all)) return info_.uuid;
  for (const SimDevice* device : *peers_) {
    if (device->memory_.find(memory) == nullptr) continue;
    return device == this && faults_.has(FaultKind::other_device) ? next_uuid_ : device->info_.uuid;
  }
  return "host";
}

std::int64_t SimDevice::free_memory_bytes() const {
  const auto total = info_.memory_total_bytes.value_or(0);
  return faults_.has(FaultKind::stale_memory)
             ? total
             : total - static_cast<std::int64_t>(memory_.used_bytes());
}

void* SimDevice::allocate(std::size_t bytes, Memory kind) {
  faults_.check();
  if (kind == Memory::huge_pages) {
    throw DeviceError(Failure::not_here, "sim: a simulated device has no huge pages");
  }
  // Simulated host memory is fenced too: only copies reach it.
  return memory_.allocate(bytes);
}

void SimDevice::upload(void* to, const void* from_host, std::size_t bytes) {
  faults_.check();
  const std::size_t lost = faults_.has(FaultKind::torn_upload) && bytes > 0 ? 1 : 0;
  cpu_.upload(memory_.host(to), from_host, bytes - lost);
}

void SimDevice::download(void* to_host, const void* from, std::size_t bytes) {
  faults_.check();
  cpu_.download(to_host, memory_.host(from), bytes);
}

void SimDevice::fill(void* to, std::byte value, std::size_t bytes) {
  faults_.check();
  cpu_.fill(memory_.host(to), value, bytes);
}

std::unique_ptr<Stream> SimDevice::create_stream() {
  faults_.check();
  return std::make_unique<SimStream>(cpu_.create_stream(),
                                     faults_.has(FaultKind::other_stream) ? next_uuid_ : info_.uuid,
                                     faults_.reported_share());
}

namespace {

/// Maps copies between memories to the CPU's host-to-host copy; all other ops stay unchanged.
OpInstance as_on_cpu(const OpInstance& op) {
  if (op.op->name != "device_memcpy" && op.op->name != "peer_memcpy") return op;
  Params params;
  for (const char* end : {"from", "to"}) params.set(end, std::string("host"));
  params.set("bytes", op.params.integer("bytes"));
  params.set("threads", std::string("one"));
  return instantiate(*find_op("memcpy"), op.format, params);
}

}  // namespace

std::unique_ptr<Kernel> SimDevice::prepare(const OpInstance& op, const Binding& binding) {
  faults_.check();
  const auto by_cpu = [this](const OpInstance& other, std::span<const Binding> bindings) {
    return cpu_.prepare(as_on_cpu(other), bindings.front());
  };
  const auto prepare_one = [by_cpu](const OpInstance& other, const Binding& tensors) {
    return is_narrow_matmul(other) ? narrow_matmul(other, tensors, by_cpu)
                                   : by_cpu(other, {&tensors, 1});
  };
  const auto prepare_on_cpu = [this, prepare_one](const OpInstance& other,
                                                  std::span<const Binding> bindings) {
    // The CPU lays out by itself what it computes.
    return is_narrow_matmul(other) && has_view(other)
               ? through_dense_tensors(cpu_, prepare_one, other, bindings.front())
               : prepare_one(other, bindings.front());
  };
  const Binding host = on_host(binding, op.signature.devices > 1);
  return std::make_unique<SimKernel>(std::vector{&faults_}, op, std::vector{host}, prepare_on_cpu);
}

Binding SimDevice::on_host(const Binding& binding, bool reaches_peers) const {
  const auto host = [&](const void* address) -> std::byte* {
    if (reaches_peers) {
      for (const SimDevice* peer : *peers_) {
        if (std::byte* found = peer->memory_.find(address)) return found;
      }
    }
    return memory_.host(address);
  };
  Binding on_host{binding.stream, {}, {}};
  for (const void* input : binding.inputs) on_host.inputs.push_back(host(input));
  for (const void* output : binding.outputs) on_host.outputs.push_back(host(output));
  return on_host;
}

}  // namespace assay::sim
