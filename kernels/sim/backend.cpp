#include "kernels/sim/backend.h"

#include "kernels/cpu/backend.h"
#include "kernels/sim/device.h"

namespace assay::sim {
namespace {

constexpr std::int64_t memory_bytes = std::int64_t{8} << 30;

/// Hands each rank's device memory to the CPU's communicator.
class SimCommunicator final : public Communicator {
 public:
  SimCommunicator(std::vector<SimDevice*> devices, std::unique_ptr<Communicator> cpu)
      : devices_(std::move(devices)), cpu_(std::move(cpu)) {}

  std::string transport() const override { return "sim over " + cpu_->transport(); }
  std::unique_ptr<Kernel> prepare(const OpInstance& op,
                                  std::span<const Binding> bindings) override {
    std::vector<Binding> host;
    for (std::size_t rank = 0; rank < bindings.size(); ++rank) {
      host.push_back(devices_[rank]->on_host(bindings[rank]));
    }
    return cpu_->prepare(op, host);
  }

 private:
  std::vector<SimDevice*> devices_;
  std::unique_ptr<Communicator> cpu_;
};

class SimBackend final : public Backend {
 public:
  explicit SimBackend(int devices) : count_(devices), cpu_(cpu::make_backend()) {}

  std::string kind() const override { return "sim"; }
  std::vector<DeviceInfo> describe() const override {
    std::vector<DeviceInfo> devices;
    for (int index = 0; index < count_; ++index) devices.push_back(describe(index));
    return devices;
  }
  std::unique_ptr<Device> open(int index) override {
    return std::make_unique<SimDevice>(describe(index));
  }
  bool ranks_share_device() const override { return false; }
  std::unique_ptr<Communicator> connect(std::span<Device* const> devices, int ranks,
                                        Bootstrap& bootstrap) override {
    std::vector<SimDevice*> own;
    for (Device* device : devices) own.push_back(static_cast<SimDevice*>(device));
    return std::make_unique<SimCommunicator>(std::move(own), cpu_->connect({}, ranks, bootstrap));
  }

 private:
  DeviceInfo describe(int index) const {
    DeviceInfo info = cpu_->describe().front();
    info.device = "sim:" + std::to_string(index);
    info.backend = "sim";
    info.name = "simulated device " + std::to_string(index) + " (no hardware)";
    info.uuid = "SIM-" + std::to_string(index);
    info.memory_total_bytes = memory_bytes;
    info.memory_free_bytes = memory_bytes;
    return info;
  }

  int count_;
  std::unique_ptr<Backend> cpu_;
};

}  // namespace

std::unique_ptr<Backend> make_backend(int devices) { return std::make_unique<SimBackend>(devices); }

}  // namespace assay::sim
