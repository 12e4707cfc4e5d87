#include "kernels/cuda/communicator.h"

#include <array>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/status.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/faults.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/nccl.h"

namespace assay::cuda {
namespace {

/// 2 as an element of the message.
std::array<std::byte, 8> two_as(DType dtype) {
  std::array<std::byte, 8> scalar{};
  visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    T two;
    if constexpr (is_narrow_float<T>) {
      two = T(2.0F);
    } else {
      two = 2;
    }
    std::memcpy(scalar.data(), &two, sizeof two);
  });
  return scalar;
}

/// The reduction as each rank's communicator knows it.
class Reductions {
 public:
  Reductions(std::vector<ncclComm_t>& ranks, const OpInstance& op) : ranks_(ranks) {
    const std::string& reduce = op.params.word("reduce");
    if (reduce != "premul_sum") {
      of_rank_.assign(ranks.size(), nccl_reduction(reduce));
      return;
    }
    auto scalar = two_as(op.dtype);
    for (const ncclComm_t rank : ranks) {
      of_rank_.emplace_back();
      check(Nccl::instance().create_premul_sum(&of_rank_.back(), scalar.data(), nccl_type(op.dtype),
                                               ncclScalarHostImmediate, rank),
            "ncclRedOpCreatePreMulSum");
      ++made_;
    }
  }
  ~Reductions() {
    for (std::size_t rank = 0; rank < made_; ++rank) {
      if (ranks_[rank] != nullptr) Nccl::instance().destroy_reduction(of_rank_[rank], ranks_[rank]);
    }
  }
  Reductions(const Reductions&) = delete;
  Reductions& operator=(const Reductions&) = delete;
  ncclRedOp_t operator[](std::size_t rank) const { return of_rank_[rank]; }

 private:
  std::vector<ncclComm_t>& ranks_;  // null once they are aborted
  std::vector<ncclRedOp_t> of_rank_;
  std::size_t made_ = 0;
};

class AllreduceKernel final : public Kernel {
 public:
  AllreduceKernel(std::vector<ncclComm_t>& ranks, const OpInstance& op,
                  std::span<const Binding> bindings)
      : ranks_(ranks),
        bindings_(bindings.begin(), bindings.end()),
        count_(static_cast<std::size_t>(op.signature.outputs[0].elements())),
        type_(nccl_type(op.dtype)),
        reductions_(ranks, op) {}

  void launch() override {
    const Nccl& nccl = Nccl::instance();
    check(nccl.group_start(), "ncclGroupStart");
    ncclResult_t refused = ncclSuccess;
    for (std::size_t rank = 0; rank < ranks_.size() && refused == ncclSuccess; ++rank) {
      const Binding& binding = bindings_[rank];
      refused = nccl.all_reduce(binding.inputs[0], binding.outputs[0], count_, type_,
                                reductions_[rank], ranks_[rank], stream_of(binding).handle());
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
  Reductions reductions_;
};

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(const std::vector<int>& ordinals, Bootstrap& bootstrap)
      : ranks_(ordinals.size()), name_(bootstrap.size() == 1 ? "nccl" : "nccl between processes") {
    if (bootstrap.size() == 1) {
      check(Nccl::instance().init_all(ranks_.data(), static_cast<int>(ranks_.size()),
                                      ordinals.data()),
            "ncclCommInitAll");
    } else {
      join(ordinals, bootstrap);
    }
  }
  // Aborted and not destroyed, which would wait for ranks that hang.
  ~NcclCommunicator() override {
    for (const ncclComm_t rank : ranks_) {
      if (rank != nullptr) Nccl::instance().abort(rank);
    }
  }
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  std::string transport() const override { return name_; }
  std::unique_ptr<Kernel> prepare(const OpInstance& op,
                                  std::span<const Binding> bindings) override {
    refuse_fault("a collective");
    return std::make_unique<AllreduceKernel>(ranks_, op, bindings);
  }

 private:
  /// Ranks are numbered process by process.
  void join(const std::vector<int>& ordinals, Bootstrap& bootstrap) {
    const Nccl& nccl = Nccl::instance();
    ncclUniqueId id{};
    if (bootstrap.rank() == 0) check(nccl.get_unique_id(&id), "ncclGetUniqueId");
    bootstrap.broadcast(std::as_writable_bytes(std::span(&id, 1)), 0);
    const auto local = static_cast<int>(ordinals.size());
    check(nccl.group_start(), "ncclGroupStart");
    ncclResult_t refused = ncclSuccess;
    for (int i = 0; i < local && refused == ncclSuccess; ++i) {
      const auto at = static_cast<std::size_t>(i);
      make_current(ordinals[at]);
      refused =
          nccl.init_rank(&ranks_[at], bootstrap.size() * local, id, bootstrap.rank() * local + i);
    }
    const ncclResult_t ended = nccl.group_end();
    check(refused, "ncclCommInitRank");
    check(ended, "ncclGroupEnd");
  }

  std::vector<ncclComm_t> ranks_;
  std::string name_;
};

}  // namespace

std::unique_ptr<Communicator> connect_nccl(std::span<Device* const> devices, Bootstrap& bootstrap) {
  if (const std::string& problem = Nccl::instance().problem(); !problem.empty()) {
    throw DeviceError(Failure::unsupported, problem);
  }
  std::vector<int> ordinals;
  for (Device* device : devices) ordinals.push_back(static_cast<CudaDevice&>(*device).ordinal());
  return std::make_unique<NcclCommunicator>(ordinals, bootstrap);
}

}  // namespace assay::cuda
