#include "kernels/cuda/nccl_ranks.h"

#include <span>

#include "kernels/core/status.h"
#include "kernels/cuda/current.h"
#include "kernels/cuda/peer_access.h"

namespace assay::cuda {

NcclRanks::NcclRanks(const std::vector<int>& ordinals, Bootstrap& bootstrap)
    : ranks_(ordinals.size()), access_losses_(peer_access_losses()) {
  // The destructor does not run if the constructor throws.
  try {
    if (bootstrap.size() == 1) {
      check(Nccl::instance().init_all(ranks_.data(), static_cast<int>(ranks_.size()),
                                      ordinals.data()),
            "ncclCommInitAll");
    } else {
      join(ordinals, bootstrap);
    }
  } catch (...) {
    abort();
    throw;
  }
}

void NcclRanks::join(const std::vector<int>& ordinals, Bootstrap& bootstrap) {
  const Nccl& nccl = Nccl::instance();
  ncclUniqueId id{};
  if (bootstrap.rank() == 0) check(nccl.get_unique_id(&id), "ncclGetUniqueId");
  bootstrap.broadcast(std::as_writable_bytes(std::span(&id, 1)), 0);
  const auto local = static_cast<int>(ordinals.size());
  first_ = bootstrap.rank() * local;
  check(nccl.group_start(), "ncclGroupStart");
  ncclResult_t refused = ncclSuccess;
  for (int i = 0; i < local && refused == ncclSuccess; ++i) {
    const auto at = static_cast<std::size_t>(i);
    make_current(ordinals[at]);
    refused = nccl.init_rank(&ranks_[at], bootstrap.size() * local, id, first_ + i);
  }
  const ncclResult_t ended = nccl.group_end();
  check(refused, "ncclCommInitRank");
  check(ended, "ncclGroupEnd");
}

void NcclRanks::demand(ncclResult_t result, const char* call) {
  if (result == ncclSuccess) return;
  // Abort before buffers are released: releasing waits for kernels, and they may hang.
  abort();
  check(result, call);
}

void NcclRanks::demand_no_earlier_error() {
  if (is_broken_) throw DeviceError(Failure::internal, "an earlier collective failed");
  for (const ncclComm_t rank : ranks_) {
    ncclResult_t earlier = ncclSuccess;
    demand(Nccl::instance().async_error(rank, &earlier), "ncclCommGetAsyncError");
    if (earlier != ncclInProgress) demand(earlier, "an earlier collective");
  }
}

bool NcclRanks::is_sound() {
  try {
    if (!is_broken_) demand_no_earlier_error();
  } catch (const DeviceError&) {
    return false;
  }
  if (access_losses_ != peer_access_losses()) abort();
  return !is_broken_;
}

void NcclRanks::abort() {
  if (is_broken_) return;
  is_broken_ = true;
  for (const ncclComm_t rank : ranks_) {
    if (rank != nullptr) Nccl::instance().abort(rank);
  }
}

}  // namespace assay::cuda
