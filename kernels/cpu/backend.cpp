#include "kernels/cpu/backend.h"

#include "kernels/cpu/collectives.h"
#include "kernels/cpu/describe.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/process_collectives.h"
#include "kernels/cpu/traits.h"

namespace assay::cpu {
namespace {

class CpuBackend final : public Backend {
 public:
  const BackendTraits& traits() const override { return cpu::traits(); }
  std::vector<DeviceInfo> describe() const override { return {describe_machine()}; }
  std::unique_ptr<Device> open(int /*index*/) override {
    return std::make_unique<CpuDevice>(describe_machine());
  }
  std::unique_ptr<Communicator> connect(std::span<Device* const> /*devices*/, int ranks,
                                        Bootstrap& bootstrap) override {
    const bool are_threads = bootstrap.size() == 1 && bootstrap.library().empty();
    return are_threads ? gloo_.connect(ranks) : connect_processes(bootstrap);
  }

 private:
  Gloo gloo_;
};

}  // namespace

std::unique_ptr<Backend> make_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace assay::cpu
