#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cuda/nccl.h"
#include "kernels/device/communicator.h"

namespace assay::cuda {

/// The ranks of one NCCL communicator that this process drives, one on each GPU.
class NcclRanks {
 public:
  /// Creates the ranks together with every other process of the bootstrap, each of which has as
  /// many. Ranks are numbered process by process. Throws DeviceError.
  NcclRanks(const std::vector<int>& ordinals, Bootstrap& bootstrap);
  ~NcclRanks() { abort(); }
  NcclRanks(const NcclRanks&) = delete;
  NcclRanks& operator=(const NcclRanks&) = delete;

  std::size_t size() const { return ranks_.size(); }
  /// Number among all processes' ranks of the first one here.
  int first() const { return first_; }
  ncclComm_t operator[](std::size_t rank) const { return ranks_[rank]; }

  /// Throws DeviceError if `result`, of `call`, is an error, or if the ranks report an error of
  /// earlier work. Breaks the communicator first.
  void demand(ncclResult_t result, const char* call);
  void demand_no_earlier_error();
  /// After an error the ranks must not be used.
  bool is_broken() const { return is_broken_; }
  /// Asks whether they can serve another trial: no error was reported, and no access between GPUs
  /// that they may use was taken away. Breaks the communicator if not.
  bool is_sound();

 private:
  /// Not by ncclCommDestroy, which would wait for ranks that hang.
  void abort();
  void join(const std::vector<int>& ordinals, Bootstrap& bootstrap);

  std::vector<ncclComm_t> ranks_;
  int first_ = 0;
  std::int64_t access_losses_;  // when they were made
  bool is_broken_ = false;
};

}  // namespace assay::cuda
