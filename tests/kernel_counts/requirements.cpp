#include "tests/kernel_counts/requirements.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/core/dtype.h"

namespace assay::kernel_counts {
namespace {

constexpr double max_moved_ratio = 1.02;
constexpr double min_wide_share = 0.98;
constexpr double max_rare_per_element = 1e-3;
constexpr double min_share_of_bandwidth = 0.95;

/// Bytes of an element of the widest of these tensors; 0 for none of more than one element.
std::size_t element_bytes(const std::vector<TensorSpec>& tensors) {
  std::size_t most = 0;
  for (const TensorSpec& tensor : tensors)
    if (tensor.elements() > 1) most = std::max(most, size_bytes(tensor.dtype));
  return most;
}

}  // namespace

std::vector<std::string> failures(const Case& test, const CaseFigures& figures) {
  std::vector<std::string> found;
  if (!(figures.moved_ratio <= max_moved_ratio))
    found.push_back(fmt::format("moves {:.2f} of the compulsory bytes", figures.moved_ratio));
  // Where widths differ, a vector of the wider tensor decides how many elements a thread takes.
  const std::size_t in = element_bytes(test.op.signature.inputs);
  const std::size_t out = element_bytes(test.op.signature.outputs);
  if (in > 0 && in >= out && !(figures.wide_load_share >= min_wide_share))
    found.push_back(fmt::format("{:.2f} of loads have 16 bytes", figures.wide_load_share));
  if (out > 0 && out >= in && !(figures.wide_store_share >= min_wide_share))
    found.push_back(fmt::format("{:.2f} of stores have 16 bytes", figures.wide_store_share));
  if (!(figures.divisions_per_element <= max_rare_per_element))
    found.push_back(fmt::format("{:.3f} divisions an element", figures.divisions_per_element));
  if (!(figures.calls_per_element <= max_rare_per_element))
    found.push_back(fmt::format("{:.3f} calls an element", figures.calls_per_element));
  if (figures.unknown > 0) found.push_back("has instructions without a model");
  for (const CaseFigures::OnGpu& bound : figures.bounds)
    if (!(bound.share_of_bandwidth >= min_share_of_bandwidth))
      found.push_back(
          fmt::format("{:.2f} on {} by {}", bound.share_of_bandwidth, bound.gpu, bound.limited_by));
  return found;
}

}  // namespace assay::kernel_counts
