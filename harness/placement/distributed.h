#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "harness/placement/tensor.h"
#include "kernels/device/communicator.h"

// Training in step: each rank has a device and a part of the samples of its own, and after each
// step all have the same gradients.
namespace assay::placement {

/// Which samples are whose: rank, rank + ranks, ... No sample is two ranks', and none is nobody's.
std::vector<std::int64_t> shard(std::int64_t samples, int rank, int ranks);

/// Those rows of `samples`, where it is.
Tensor rows_of(const Tensor& samples, std::span<const std::int64_t> indices);

/// The gradient of weights W [out, in] of y = x W^T over samples x [n, in], given that of y:
/// g^T x for g [n, out].
Tensor weight_gradient(const Tensor& x, const Tensor& g);

/// Connected ranks, each on its place.
class Group {
 public:
  /// Ranks that share a device, as those of a CPU do, give it once each. Throws DeviceError where
  /// the collective library is missing.
  Group(std::vector<Place*> places, Bootstrap& bootstrap);

  /// The tensors of rank 0 for all of them: each rank's on its place.
  std::vector<Tensor> broadcast(const Tensor& of_rank_0) const;
  /// The element by element average of one tensor a rank: the same, bit for bit, on every rank.
  std::vector<Tensor> average(std::span<const Tensor> tensors) const;

 private:
  std::vector<Place*> places_;
  std::unique_ptr<Communicator> communicator_;
};

}  // namespace assay::placement
