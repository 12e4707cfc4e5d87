#include "kernels/cuda/communicator.h"

#include <utility>
#include <vector>

#include "kernels/base/status.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/nccl.h"

namespace assay::cuda {
namespace {

class AllreduceKernel final : public Kernel {
 public:
  AllreduceKernel(std::vector<ncclComm_t>& ranks, const OpInstance& op,
                  std::span<const Binding> bindings)
      : ranks_(ranks),
        bindings_(bindings.begin(), bindings.end()),
        count_(static_cast<std::size_t>(op.signature.outputs[0].elements())),
        type_(nccl_type(op.dtype)),
        reduction_(nccl_reduction(op.params.word("reduce"))) {}

  void launch() override {
    const Nccl& nccl = Nccl::instance();
    check(nccl.group_start(), "ncclGroupStart");
    ncclResult_t refused = ncclSuccess;
    for (std::size_t rank = 0; rank < ranks_.size() && refused == ncclSuccess; ++rank) {
      const Binding& binding = bindings_[rank];
      refused = nccl.all_reduce(binding.inputs[0], binding.outputs[0], count_, type_, reduction_,
                                ranks_[rank], stream_of(binding).handle());
    }
    // The group ends whatever became of it: it would swallow the calls behind it.
    const ncclResult_t ended = nccl.group_end();
    check(refused, "ncclAllReduce");
    check(ended, "ncclGroupEnd");
    for (const ncclComm_t rank : ranks_) {
      ncclResult_t earlier = ncclSuccess;
      check(nccl.async_error(rank, &earlier), "ncclCommGetAsyncError");
      if (earlier == ncclSuccess || earlier == ncclInProgress) continue;
      // Before buffers are released, which would wait for kernels that hang.
      for (ncclComm_t& each : ranks_) nccl.abort(std::exchange(each, nullptr));
      check(earlier, "an earlier ncclAllReduce");
    }
  }
  std::string implementation() const override { return Nccl::instance().version_text(); }

 private:
  std::vector<ncclComm_t>& ranks_;  // null once they are aborted
  std::vector<Binding> bindings_;
  std::size_t count_;
  ncclDataType_t type_;
  ncclRedOp_t reduction_;
};

class NcclCommunicator final : public Communicator {
 public:
  explicit NcclCommunicator(const std::vector<int>& ordinals) : ranks_(ordinals.size()) {
    check(
        Nccl::instance().init_all(ranks_.data(), static_cast<int>(ranks_.size()), ordinals.data()),
        "ncclCommInitAll");
  }
  // Aborted and not destroyed, which would wait for ranks that hang.
  ~NcclCommunicator() override {
    for (const ncclComm_t rank : ranks_) {
      if (rank != nullptr) Nccl::instance().abort(rank);
    }
  }
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  std::string transport() const override { return "nccl"; }
  std::unique_ptr<Kernel> prepare(const OpInstance& op,
                                  std::span<const Binding> bindings) override {
    return std::make_unique<AllreduceKernel>(ranks_, op, bindings);
  }

 private:
  std::vector<ncclComm_t> ranks_;
};

}  // namespace

std::unique_ptr<Communicator> connect_nccl(std::span<Device* const> devices) {
  if (const std::string& problem = Nccl::instance().problem(); !problem.empty()) {
    throw DeviceError(Failure::unsupported, problem);
  }
  std::vector<int> ordinals;
  for (Device* device : devices) ordinals.push_back(static_cast<CudaDevice&>(*device).ordinal());
  return std::make_unique<NcclCommunicator>(ordinals);
}

}  // namespace assay::cuda
