#include "kernels/cuda/backend.h"

#include "kernels/core/status.h"
#include "kernels/cuda/communicator.h"
#include "kernels/cuda/cublas_lt.h"
#include "kernels/cuda/describe.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/traits.h"

namespace assay::cuda {
namespace {

class CudaBackend final : public Backend {
 public:
  const BackendTraits& traits() const override { return cuda::traits(); }
  std::vector<DeviceInfo> describe() const override { return describe_gpus(); }
  std::vector<std::string> problems() const override { return missing_parts(); }

  std::unique_ptr<Device> open(int index) override {
    std::vector<DeviceInfo> gpus = describe_gpus();
    if (index < 0 || index >= std::ssize(gpus)) {
      throw DeviceError(Failure::device_lost, "there is no cuda:" + std::to_string(index) +
                                                  " (any more): the driver shows " +
                                                  std::to_string(gpus.size()) + " GPUs");
    }
    return std::make_unique<CudaDevice>(std::move(gpus[static_cast<std::size_t>(index)]), index);
  }

  Visibility visibility() const override { return visible_gpus(); }

  std::unique_ptr<Communicator> connect(std::span<Device* const> devices, int /*ranks*/,
                                        Bootstrap& bootstrap) override {
    return connect_nccl(devices, bootstrap, communicators_);
  }

 private:
  CommunicatorCache<NcclRanks> communicators_;
};

}  // namespace

std::unique_ptr<Backend> make_backend() {
  CublasLt::set_environment();
  return std::make_unique<CudaBackend>();
}

}  // namespace assay::cuda
