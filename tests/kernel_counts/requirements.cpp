#include "tests/kernel_counts/requirements.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "kernels/core/dtype.h"

namespace assay::kernel_counts {
namespace {

constexpr double max_moved_ratio = 1.02;
constexpr double min_wide_share = 0.98;
constexpr double max_rare_per_element = 1e-3;
constexpr double min_share_of_bandwidth = 0.95;

/// Why ops need not meet a requirement.
struct Reason {
  std::initializer_list<std::string_view> ops;
  std::initializer_list<Requirement> requirements;
  std::string_view text;
  std::initializer_list<std::size_t> widths{};  // bytes of the op's dtype; empty: any
};

using enum Requirement;
const Reason reasons[] = {
    {{"exp", "log", "tanh", "sigmoid", "gelu", "gelu_tanh", "pow", "sqrt", "div", "softmax"},
     {issue, calls},
     "instructions of CUDA's accurate math library"},
    {{"log", "tanh", "pow"}, {moved}, "coefficients that the math library loads"},
    {{"random"}, {issue}, "ten rounds of Philox for each 16 bytes"},
    {{"sort"},
     {moved, wide_loads, wide_stores, issue, latency, memory, divisions},
     "CUB reads and writes the keys in each pass of its radix sort"},
    {{"cast"}, {issue}, "conversions, 16 a clock by the lowest published rate"},
    {{"dot", "sum", "prod", "mean", "norm2", "reduce_min", "reduce_max", "argmax", "fma", "scale",
      "square", "mul", "min", "max", "less", "equal", "where"},
     {issue},
     "widening and joining of narrow elements",
     {1, 2}},
    {{"scan"}, {issue}, "joining of narrow elements, or of 64 bits", {2, 8}},
    {{"layernorm"}, {issue}, "mean, variance and scale of each element"},
    {{"gather"}, {wide_loads}, "an index of 8 bytes for each row"},
    {{"where"}, {wide_loads}, "a condition of one byte for each element"},
    {{"layernorm"}, {moved}, "each block loads weight and bias once, from a cache"},
};

std::string_view reason_of(const Case& test, Requirement requirement) {
  for (const Reason& reason : reasons) {
    const auto has = [](const auto& list, const auto& value) {
      return std::ranges::find(list, value) != list.end();
    };
    if (!has(reason.ops, test.op.op->name) || !has(reason.requirements, requirement)) continue;
    if (reason.widths.size() == 0 || has(reason.widths, size_bytes(test.op.dtype)))
      return reason.text;
  }
  return {};
}

/// Bytes of an element of the widest of these tensors; 0 for none of more than one element.
std::size_t element_bytes(const std::vector<TensorSpec>& tensors) {
  std::size_t most = 0;
  for (const TensorSpec& tensor : tensors)
    if (tensor.elements() > 1) most = std::max(most, size_bytes(tensor.dtype));
  return most;
}

Requirement limit_of(const CaseFigures::OnGpu& bound) {
  if (bound.limited_by == "issue") return issue;
  return bound.limited_by == "latency" ? latency : memory;
}

}  // namespace

std::vector<Failure> failures(const Case& test, const CaseFigures& figures) {
  std::vector<Failure> found;
  const auto demand = [&](Requirement requirement, bool is_met, const std::string& text) {
    if (!is_met) found.push_back({requirement, text, reason_of(test, requirement)});
  };
  demand(moved, figures.moved_ratio <= max_moved_ratio,
         fmt::format("moves {:.2f} of the compulsory bytes", figures.moved_ratio));
  // Where widths differ, a vector of the wider tensor decides how many elements a thread takes.
  const std::size_t in = element_bytes(test.op.signature.inputs);
  const std::size_t out = element_bytes(test.op.signature.outputs);
  if (in > 0 && in >= out)
    demand(wide_loads, figures.wide_load_share >= min_wide_share,
           fmt::format("{:.2f} of loads have 16 bytes", figures.wide_load_share));
  if (out > 0 && out >= in)
    demand(wide_stores, figures.wide_store_share >= min_wide_share,
           fmt::format("{:.2f} of stores have 16 bytes", figures.wide_store_share));
  demand(divisions, figures.divisions_per_element <= max_rare_per_element,
         fmt::format("{:.3f} divisions an element", figures.divisions_per_element));
  demand(calls, figures.calls_per_element <= max_rare_per_element,
         fmt::format("{:.3f} calls an element", figures.calls_per_element));
  demand(model, figures.unknown == 0, "has instructions without a model");
  for (const CaseFigures::OnGpu& bound : figures.bounds)
    demand(
        limit_of(bound), bound.share_of_bandwidth >= min_share_of_bandwidth,
        fmt::format("{:.2f} on {} by {}", bound.share_of_bandwidth, bound.gpu, bound.limited_by));
  return found;
}

}  // namespace assay::kernel_counts
