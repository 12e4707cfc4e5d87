#include "kernels/numa/backend.h"

#include <utility>

#include "kernels/core/status.h"
#include "kernels/cpu/all_cores.h"
#include "kernels/cpu/collectives.h"
#include "kernels/cpu/describe.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/topology.h"
#include "kernels/numa/traits.h"

namespace assay::numa {
namespace {

std::vector<cpu::MemoryNode> nodes() {
  std::vector<cpu::MemoryNode> found = cpu::memory_nodes();
  if (found.size() < 2) found.clear();
  return found;
}

DeviceInfo describe(const cpu::MemoryNode& node, int index) {
  DeviceInfo info = cpu::describe_machine();
  info.device = to_text(DeviceId{traits().kind, index});
  info.backend = traits().kind;
  info.name += ", node " + std::to_string(node.number);
  info.compute_units = node.cores;
  info.memory_total_bytes = node.memory_bytes;
  info.memory_free_bytes.reset();
  info.numa_node = node.number;
  info.local_processors = node.processors;
  cpu::describe_caches(node.caches, info);
  if (!cpu::is_real_topology()) info.stand_in = "emulated";
  return info;
}

class NumaBackend final : public Backend {
 public:
  const BackendTraits& traits() const override { return numa::traits(); }
  std::vector<DeviceInfo> describe() const override {
    std::vector<DeviceInfo> devices;
    for (const cpu::MemoryNode& node : nodes()) {
      devices.push_back(numa::describe(node, static_cast<int>(devices.size())));
    }
    return devices;
  }
  std::unique_ptr<Device> open(int index) override {
    const std::vector<cpu::MemoryNode> all = nodes();
    if (index < 0 || index >= std::ssize(all)) {
      throw DeviceError(Failure::device_lost, "there is no " + to_text(DeviceId{kind(), index}));
    }
    const cpu::MemoryNode& node = all[static_cast<std::size_t>(index)];
    if (!cpu::is_bound_to(node)) {
      throw DeviceError(Failure::internal, "this process is not bound to the processors " +
                                               node.processors + " of node " +
                                               std::to_string(node.number));
    }
    cpu::bind_memory(node.number);
    return std::make_unique<cpu::CpuDevice>(numa::describe(node, index));
  }
  std::unique_ptr<Communicator> connect(std::span<Device* const> /*devices*/, int ranks,
                                        Bootstrap& /*bootstrap*/) override {
    return gloo_.connect(ranks);
  }

 private:
  cpu::Gloo gloo_;
};

}  // namespace

std::unique_ptr<Backend> make_backend() { return std::make_unique<NumaBackend>(); }

}  // namespace assay::numa
