#include "kernels/cuda/peer_access.h"

#include <cuda_runtime_api.h>

#include <atomic>
#include <string>

#include "kernels/core/status.h"
#include "kernels/cuda/current.h"
#include "kernels/cuda/error.h"

namespace assay::cuda {
namespace {

std::atomic<std::int64_t> losses{0};

}  // namespace

void set_peer_access(int from, int to, bool direct) {
  make_current(from);
  const cudaError_t error =
      direct ? cudaDeviceEnablePeerAccess(to, 0) : cudaDeviceDisablePeerAccess(to);
  if (error == cudaErrorPeerAccessAlreadyEnabled || error == cudaErrorPeerAccessNotEnabled) {
    ignore(error);
    return;
  }
  check(error, direct ? "cudaDeviceEnablePeerAccess" : "cudaDeviceDisablePeerAccess");
  if (!direct) ++losses;
}

void demand_peer_access(int from, int to) {
  int can = 0;
  check(cudaDeviceCanAccessPeer(&can, from, to), "cudaDeviceCanAccessPeer");
  if (can != 0) return;
  throw DeviceError(
      Failure::not_here,
      "cuda:" + std::to_string(from) + " cannot reach the memory of cuda:" + std::to_string(to));
}

std::int64_t peer_access_losses() { return losses; }

}  // namespace assay::cuda
