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

/// An op that need not meet a requirement, and the figure to which this holds.
struct Excused {
  std::string_view op;
  double to;
};

/// Why ops need not meet a requirement. Figures are those of A100, H100 and B200, with PTX of their
/// compute capability, and a little more: what gets worse has no reason.
struct Reason {
  Requirement requirement;
  std::string_view text;
  std::initializer_list<Excused> ops;
  std::initializer_list<std::size_t> widths{};  // bytes of the op's dtype; empty: any
};

using enum Requirement;
constexpr std::string_view math = "instructions of CUDA's accurate math library";
constexpr std::string_view radix = "CUB reads and writes the keys in each pass of its radix sort";
constexpr std::string_view widening = "widening and joining of narrow elements";
const Reason reasons[] = {
    {issue,
     math,
     {{"exp", 0.9},
      {"log", 0.53},
      {"tanh", 0.72},
      {"sigmoid", 0.56},
      {"gelu", 0.29},
      {"gelu_tanh", 0.48},
      {"pow", 0.27},
      {"softmax", 0.68}}},
    {calls, math, {{"pow", 1.0}}, {8}},
    {moved, "coefficients that the math library loads", {{"log", 1.05}, {"tanh", 1.05}}, {8}},
    {issue, "ten rounds of Philox for each 16 bytes", {{"random", 0.015}}},
    {moved, radix, {{"sort", 4.5}}, {1}},
    {moved, radix, {{"sort", 5.8}}, {2}},
    {moved, radix, {{"sort", 6}}, {4}},
    {moved, radix, {{"sort", 10.5}}, {8}},
    {wide_loads, radix, {{"sort", 0}}},
    {wide_stores, radix, {{"sort", 0}}},
    {issue, radix, {{"sort", 0.03}}},
    {issue, "conversions, 16 a clock by the lowest published rate", {{"cast", 0.32}}},
    {issue,
     widening,
     {{"argmax", 0.84},
      {"reduce_min", 0.9},
      {"reduce_max", 0.9},
      {"scale", 0.84},
      {"square", 0.88},
      {"min", 0.7},
      {"max", 0.7},
      {"less", 0.73},
      {"equal", 0.73},
      {"where", 0.82}},
     {1, 2}},
    {issue, "joining of narrow elements", {{"scan", 0.9}}, {2}},
    {issue, "joining of 64 bits", {{"scan", 0.8}}, {8}},
    {issue, "mean, variance and scale of each element", {{"layernorm", 0.52}}, {2, 4}},
    {wide_loads, "an index of 8 bytes for each row", {{"gather", 0.88}}, {1}},
    {wide_loads, "a condition of one byte for each element", {{"where", 0.79}}},
    {moved, "each block loads weight and bias once, from a cache", {{"layernorm", 1.06}}, {8}},
};

/// Says if a figure may not be greater, or not less.
enum class Side { at_most, at_least };

/// NaN is not within a limit.
bool is_within(double figure, Side side, double limit) {
  return side == Side::at_most ? figure <= limit : figure >= limit;
}

std::string_view reason_of(const Case& test, Requirement requirement, double figure, Side side) {
  for (const Reason& reason : reasons) {
    if (reason.requirement != requirement) continue;
    if (reason.widths.size() > 0 &&
        std::ranges::find(reason.widths, size_bytes(test.op.dtype())) == reason.widths.end())
      continue;
    const auto* const found = std::ranges::find(reason.ops, test.op.op->name, &Excused::op);
    if (found != reason.ops.end() && is_within(figure, side, found->to)) return reason.text;
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
  const auto demand = [&](Requirement requirement, double figure, Side side, double limit,
                          const std::string& text) {
    if (!is_within(figure, side, limit))
      found.push_back({requirement, text, reason_of(test, requirement, figure, side)});
  };
  using enum Side;
  demand(moved, figures.moved_ratio, at_most, max_moved_ratio,
         fmt::format("moves {:.2f} of the compulsory bytes", figures.moved_ratio));
  // Where widths differ, a vector of the wider tensor decides how many elements a thread takes.
  const std::size_t in = element_bytes(test.op.signature.inputs);
  const std::size_t out = element_bytes(test.op.signature.outputs);
  if (in > 0 && in >= out)
    demand(wide_loads, figures.wide_load_share, at_least, min_wide_share,
           fmt::format("{:.2f} of loads have 16 bytes", figures.wide_load_share));
  if (out > 0 && out >= in)
    demand(wide_stores, figures.wide_store_share, at_least, min_wide_share,
           fmt::format("{:.2f} of stores have 16 bytes", figures.wide_store_share));
  demand(divisions, figures.divisions_per_element, at_most, max_rare_per_element,
         fmt::format("{:.3f} divisions an element", figures.divisions_per_element));
  demand(calls, figures.calls_per_element, at_most, max_rare_per_element,
         fmt::format("{:.3f} calls an element", figures.calls_per_element));
  demand(model, figures.unknown, at_most, 0, "has instructions without a model");
  if (figures.bounds.empty()) found.push_back({model, "has a bound on no GPU", {}});
  for (const CaseFigures::OnGpu& bound : figures.bounds)
    demand(
        limit_of(bound), bound.share_of_bandwidth, at_least, min_share_of_bandwidth,
        fmt::format("{:.2f} on {} by {}", bound.share_of_bandwidth, bound.gpu, bound.limited_by));
  return found;
}

}  // namespace assay::kernel_counts
