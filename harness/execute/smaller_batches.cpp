#include "harness/execute/smaller_batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "harness/execute/memory.h"
#include "harness/execute/part_of_problem.h"
#include "harness/execute/trial.h"
#include "harness/execute/verify_launch.h"
#include "kernels/core/status.h"

namespace assay {
namespace {

/// The first elements of a tensor that differs from `spec` in its outermost extent alone.
HostTensor beginning_of(const HostTensor& whole, const TensorSpec& spec) {
  HostTensor part(spec);
  std::ranges::copy(whole.bytes().first(part.bytes().size()), part.bytes().begin());
  return part;
}

OpInstance with_rows(const OpInstance& op, std::int64_t rows) {
  Params params = op.params;
  params.set(op.op->independent_rows, rows);
  return instantiate(*op.op, op.format, params);
}

bool is_no_answer(Failure failure) {
  return failure == Failure::unsupported || failure == Failure::not_here ||
         failure == Failure::out_of_memory;
}

void launch_rows(const OpInstance& op, std::int64_t rows, std::span<placement::Place* const> lane,
                 const RankInputs& inputs, const HostTensor& verified, const Checks& checks,
                 SmallerBatches& found) {
  std::vector<std::int64_t> first(static_cast<std::size_t>(rows));
  std::iota(first.begin(), first.end(), 0);
  const PartOfProblem part = part_of(op, inputs[0], std::move(first), {});
  const RankInputs& own = part.inputs;
  Trial trial(part.op, lane);
  trial.tensors().upload(own);
  arm_for_timing(trial);
  trial.launch();
  trial.synchronize();
  const HostTensor expected = beginning_of(verified, part.op.signature.outputs[0]);
  const auto element = trial.tensors().output(0).first_difference(expected);
  check_surroundings(trial, {&own, 1}, checks, "smaller_batch");
  found.launched.push_back(rows);
  if (!element) return;
  if (found.other_bits.empty()) {
    found.first_difference = fmt::format("{}={}: [{}]", op.op->independent_rows, rows, *element);
  }
  found.other_bits.push_back(rows);
}

}  // namespace

std::vector<std::int64_t> smaller_batches(std::int64_t rows) {
  constexpr std::int64_t few = 16;
  std::vector<std::int64_t> all{1, few, (rows + 1) / 2, rows - 1};
  std::erase_if(all, [&](std::int64_t part) { return part < 1 || part >= rows; });
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

std::string SmallerBatches::other_bits_text() const {
  return fmt::format("{}", fmt::join(other_bits, ";"));
}

SmallerBatches launch_smaller_batches(const OpInstance& op, std::span<placement::Place* const> lane,
                                      const RankInputs& inputs, const HostTensor& verified,
                                      const Checks& checks) {
  SmallerBatches found;
  if (op.op->independent_rows.empty()) return found;
  const bool is_host = lane.front()->device().is_host();
  for (const std::int64_t rows : smaller_batches(op.params.integer(op.op->independent_rows))) {
    const OpInstance part = with_rows(op, rows);
    if (too_little_memory_now(host_bytes(part, is_host))) continue;
    try {
      launch_rows(op, rows, lane, inputs, verified, checks, found);
    } catch (const DeviceError& error) {
      if (is_no_answer(error.failure())) continue;
      throw DeviceError(error.failure(), fmt::format("{}={}, a part of the case: {}",
                                                     op.op->independent_rows, rows, error.what()));
    }
  }
  return found;
}

}  // namespace assay
