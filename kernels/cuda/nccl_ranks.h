#pragma once

#include <cstddef>
#include <vector>

#include "kernels/cuda/nccl.h"
#include "kernels/device/communicator.h"

namespace assay::cuda {

/// The ranks of one NCCL communicator that this process drives, one on each GPU.
class NcclRanks {
 public:
  /// With as many ranks in each other process of the bootstrap, which all make theirs; ranks are
  /// numbered process by process. Throws DeviceError.
  NcclRanks(const std::vector<int>& ordinals, Bootstrap& bootstrap);
  ~NcclRanks() { abort(); }
  NcclRanks(const NcclRanks&) = delete;
  NcclRanks& operator=(const NcclRanks&) = delete;

  std::size_t size() const { return ranks_.size(); }
  ncclComm_t operator[](std::size_t rank) const { return ranks_[rank]; }

  /// Throws DeviceError where `result`, of `call`, or what the ranks tell of earlier work is an
  /// error. Breaks the communicator before it does.
  void demand(ncclResult_t result, const char* call);
  void demand_no_earlier_error();
  /// After an error nothing more may be asked of the ranks.
  bool is_broken() const { return is_broken_; }

 private:
  /// Not ncclCommDestroy, which would wait for ranks that hang.
  void abort();
  void join(const std::vector<int>& ordinals, Bootstrap& bootstrap);

  std::vector<ncclComm_t> ranks_;
  bool is_broken_ = false;
};

}  // namespace assay::cuda
