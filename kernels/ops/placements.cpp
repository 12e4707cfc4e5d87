#include "kernels/ops/placements.h"

#include <bit>
#include <string>
#include <utility>

#include "kernels/core/status.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/signatures.h"

namespace assay {
namespace {

constexpr std::int64_t most_devices = 64;

Op on_the_layer(Op op, Needs needs) {
  op.is_scenario = true;
  if (needs == Needs::other_device) op.only_on = apart_from_the_host();
  return op;
}

Op over_devices(Op op, Needs needs) {
  op = on_the_layer(std::move(op), needs);
  op.spans = true;
  return op;
}

int devices_of(const Params& params) { return static_cast<int>(params.integer("devices")); }

Signature copied(DType dtype, const Params& params) {
  return elementwise_signature(Operands::copied)(dtype, params);
}

Signature copied_over_devices(DType dtype, const Params& params) {
  Signature s = copied(dtype, params);
  s.devices = devices_of(params);
  return s;
}

Signature copied_matrix(DType dtype, const Params& params) {
  const TensorSpec matrix{dtype, {params.integer("rows"), params.integer("cols")}};
  Signature s{.inputs = {matrix}, .outputs = {matrix}, .is_copy = true};
  s.bytes = 2 * static_cast<double>(matrix.bytes());
  return s;
}

Signature squares_of_three(DType dtype, const Params& params) {
  Signature s{.outputs = {{dtype, {params.integer("numbers")}}}};
  s.flops = 3;
  s.bytes = static_cast<double>(s.outputs[0].bytes());
  return s;
}

Signature random_over_devices(DType dtype, const Params& params) {
  Signature s = random_signature(dtype, params);
  s.devices = devices_of(params);
  return s;
}

Signature stack_over_devices(DType dtype, const Params& params) {
  Signature s = linear_stack_signature(dtype, params);
  s.devices = devices_of(params);
  return s;
}

/// Of each rank: samples x [samples, in] and the gradients g [samples, out] of what a layer made of
/// them; to the gradient [out, in] of its weights.
Signature gradient_signature(DType dtype, const Params& params) {
  const std::int64_t samples = params.integer("samples");
  const std::int64_t ranks = params.integer("ranks");
  const std::int64_t in = params.integer("in");
  const std::int64_t out = params.integer("out");
  if (samples < ranks) {
    throw NotApplicable("distributed_gradient: " + std::to_string(samples) +
                        " samples leave some of " + std::to_string(ranks) + " ranks without any");
  }
  Signature s{.inputs = {{dtype, {samples, in}}, {dtype, {samples, out}}},
              .outputs = {{dtype, {out, in}}}};
  s.ranks = static_cast<int>(ranks);
  s.terms = samples;
  s.factors_per_term = 2;
  s.accumulate_in = dtype;  // partial sums travel as messages
  s.flops = 2.0 * static_cast<double>(samples) * static_cast<double>(in * out);
  s.bytes = static_cast<double>(s.outputs[0].bytes());
  return s;
}

/// Rank r adds up ceil(samples / ranks) products at most, the reduction ranks - 1 more, which
/// together are no more than `samples`; then the average's division, as of an all-reduce.
Passes gradient_passes(DType /*dtype*/, const Params& params) {
  Passes passes = sum_then_operation({.oracle = Oracle::sum_bound, .extra = 2});
  std::erase_if(passes, [](const Pass& pass) { return pass.has_specials(); });
  const auto ranks = static_cast<std::uint64_t>(params.integer("ranks"));
  passes.front().rule = std::has_single_bit(ranks) ? Rule{.oracle = Oracle::exact}
                                                   : Rule{.oracle = Oracle::sum_bound, .extra = 2};
  return passes;
}

}  // namespace

Op placed_copy(const OpRow& row, Needs needs) {
  return on_the_layer(make_op(row, {extent("n")}, copied, moves()), needs);
}

Op visible_mask_op(const OpRow& row) {
  Op op = placed_copy(row, Needs::other_device);
  op.only_on = with_own_memory();  // of ranks a launcher decides
  return op;
}

Op placed_copy_over_devices(const OpRow& row) {
  return over_devices(make_op(row, {limited("devices", 2, most_devices), extent("n")},
                              copied_over_devices, moves()),
                      Needs::other_device);
}

Op most_free_op(const OpRow& row) {
  Op op = placed_copy_over_devices(row);
  op.only_on = with_own_memory();  // ranks of one host share it
  return op;
}

Op round_trip_op(const OpRow& row) {
  return on_the_layer(make_op(row,
                              {extent("rows"), extent("cols"),
                               choice("layout", {"dense", "transposed", "columns"})},
                              copied_matrix, moves()),
                      Needs::other_device);
}

Op device_guard_op(const OpRow& row) {
  return over_devices(make_op(row,
                              {limited("devices", 2, most_devices), extent("n"),
                               choice("exit", {"normal", "error"})},
                              copied_over_devices, moves()),
                      Needs::other_device);
}

Op results_stay_op(const OpRow& row) {
  return on_the_layer(
      make_op(row, {extent("n")}, elementwise_signature(Operands::one), bit_for_bit()),
      Needs::nothing);
}

Op square_123_op(const OpRow& row) {
  return on_the_layer(make_op(row, {limited("numbers", 3, 3)}, squares_of_three, no_inputs()),
                      Needs::nothing);
}

Op linear_module_op(const OpRow& row) {
  return on_the_layer(
      make_op(row, {extent("batch"), extent("in"), extent("out"), flag("bias"), activation()},
              linear_signature, linear_passes),
      Needs::nothing);
}

Op sequential_op(const OpRow& row) {
  return on_the_layer(make_op(row,
                              {extent("batch"), extent("in"), extent("width"),
                               limited("layers", 1, 64), flag("bias"), activation()},
                              linear_stack_signature, stack_passes),
                      Needs::nothing);
}

Op manual_seed_op(const OpRow& row) {
  return on_the_layer(make_op(row, {extent("n"), seed_of_numbers()}, random_signature, no_inputs()),
                      Needs::nothing);
}

Op manual_seed_all_op(const OpRow& row) {
  return over_devices(
      make_op(row, {limited("devices", 2, most_devices), extent("n"), seed_of_numbers()},
              random_over_devices, no_inputs()),
      Needs::other_device);
}

Op data_parallel_op(const OpRow& row) {
  return over_devices(
      make_op(row,
              {limited("devices", 1, most_devices), extent("batch"), extent("in"), extent("width"),
               limited("layers", 1, 64), flag("bias"), activation()},
              stack_over_devices, stack_passes),
      Needs::nothing);
}

Op distributed_gradient_op(const OpRow& row) {
  Op op = on_the_layer(
      make_op(row,
              {limited("ranks", 1, most_devices), extent("samples"), extent("in"), extent("out")},
              gradient_signature, gradient_passes),
      Needs::nothing);
  op.collective = true;
  return op;
}

}  // namespace assay
