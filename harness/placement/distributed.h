#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "harness/placement/tensor.h"
#include "kernels/device/communicator.h"

// Data-parallel training: each rank has its own device and part of the samples. After each step all
// ranks have the same gradients.
namespace assay::placement {

/// Indices of a rank's samples: rank, rank + ranks, ... Each sample belongs to exactly one rank.
std::vector<std::int64_t> shard(std::int64_t samples, int rank, int ranks);

/// Gathers those rows of `samples` on its own place.
Tensor rows_of(const Tensor& samples, std::span<const std::int64_t> indices);

/// The gradient of weights W [out, in] of y = x W^T over samples x [n, in], given that of y:
/// g^T x for g [n, out].
Tensor weight_gradient(const Tensor& x, const Tensor& g);

/// Connected ranks, each on its place.
class Group {
 public:
  /// `places` has one entry a rank, also for ranks that share a device, such as the CPU. Throws
  /// DeviceError if the collective library is missing.
  Group(std::vector<Place*> places, Bootstrap& bootstrap);

  /// Copies the tensor of rank 0 to the place of each rank.
  std::vector<Tensor> broadcast(const Tensor& of_rank_0) const;
  /// Element by element average of one tensor a rank. Bit-identical on every rank.
  std::vector<Tensor> average(std::span<const Tensor> tensors) const;

 private:
  std::vector<Place*> places_;
  std::unique_ptr<Communicator> communicator_;
};

}  // namespace assay::placement
