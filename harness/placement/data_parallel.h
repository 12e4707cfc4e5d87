#pragma once

#include <span>
#include <vector>

#include "harness/placement/module.h"

// One batch on several devices: each computes the module on a part of the rows.
namespace assay::placement {

/// Splits the rows of `batch` into parts of ceil(rows / places), each on its place. The last part
/// may be shorter. Few rows give fewer parts than places.
std::vector<Tensor> scatter(const Tensor& batch, std::span<Place* const> places);

/// Joins the rows of all parts in their order on `place`.
Tensor gather(std::span<const Tensor> parts, Place& place);

/// Scatters the batch, runs replicas of the module on all places at once, and gathers the outputs
/// on the first place.
Tensor data_parallel(const Module& module, const Tensor& batch, std::span<Place* const> places);

}  // namespace assay::placement
