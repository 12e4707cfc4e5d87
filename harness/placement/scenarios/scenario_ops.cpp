#include "harness/placement/scenarios/scenario_ops.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "kernels/core/status.h"
#include "kernels/ops/elementwise.h"
#include "kernels/ops/matmul.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/random.h"
#include "kernels/ops/row.h"

// Ops about the places of tensors and modules. The layer calls the kernels of other ops.
namespace assay::placement {
namespace {

/// Devices that a scenario needs beside the CPU, which is always there.
enum class Needs {
  nothing,       // makes sense on the CPU alone too
  other_device,  // at least one beside the CPU
};

constexpr std::int64_t max_devices = 64;

Op on_the_layer(Op op, Needs needs) {
  if (needs == Needs::other_device) op.memory_spaces = {MemorySpace::device, MemorySpace::remote};
  return op;
}

Op over_devices(Op op, Needs needs) {
  op = on_the_layer(std::move(op), needs);
  op.multi_device = true;
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
  Signature s = stack_signature(dtype, params);
  s.devices = devices_of(params);
  return s;
}

/// Each rank maps samples x [samples, in] and the gradients g [samples, out] of a layer's outputs
/// to the gradient [out, in] of its weights.
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
  s.ranks_agree = true;
  s.terms = samples;
  s.factors_per_term = 2;
  s.accumulate_in = dtype;  // partial sums travel as messages
  s.flops = 2.0 * static_cast<double>(samples) * static_cast<double>(in * out);
  s.bytes = static_cast<double>(s.outputs[0].bytes());
  return s;
}

/// Each rank adds up at most ceil(samples / ranks) products, and the reduction ranks - 1 more: no
/// more than `samples` together. The division of the average follows, as in an all-reduce.
Passes gradient_passes(DType /*dtype*/, const Params& params) {
  Passes passes = sum_then_operation({.oracle = Oracle::sum_bound, .extra = 2});
  std::erase_if(passes, [](const Pass& pass) { return pass.has_specials(); });
  const auto ranks = static_cast<std::uint64_t>(params.integer("ranks"));
  passes.front().rule = std::has_single_bit(ranks) ? Rule{.oracle = Oracle::exact}
                                                   : Rule{.oracle = Oracle::sum_bound, .extra = 2};
  return passes;
}

/// y = x by one or more detours; n elements.
Op placed_copy(const OpRow& row, Needs needs) {
  return on_the_layer(make_op(row, {extent("n")}, copied, moves()), needs);
}

Op visible_mask_op(const OpRow& row) {
  Op op = placed_copy(row, Needs::other_device);
  op.memory_spaces = {MemorySpace::device};  // a launcher decides for its ranks
  return op;
}

/// y = x over `devices` devices together.
Op placed_copy_over_devices(const OpRow& row) {
  return over_devices(
      make_op(row, {limited("devices", 2, max_devices), extent("n")}, copied_over_devices, moves()),
      Needs::other_device);
}

Op most_free_op(const OpRow& row) {
  Op op = placed_copy_over_devices(row);
  op.memory_spaces = {MemorySpace::device};  // ranks of one host share it
  return op;
}

/// Round trip of a matrix in the memory layout `layout`.
Op round_trip_op(const OpRow& row) {
  return on_the_layer(make_op(row,
                              {extent("rows"), extent("cols"),
                               choice("layout", {"dense", "transposed", "columns"})},
                              copied_matrix, moves()),
                      Needs::other_device);
}

Op device_guard_op(const OpRow& row) {
  return over_devices(make_op(row,
                              {limited("devices", 2, max_devices), extent("n"),
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
  return on_the_layer(make_op(row, linear_parameters(), linear_signature, linear_passes),
                      Needs::nothing);
}

Op sequential_op(const OpRow& row) {
  return on_the_layer(make_op(row, stack_parameters(), stack_signature, stack_passes),
                      Needs::nothing);
}

Op manual_seed_op(const OpRow& row) {
  return on_the_layer(make_op(row, {extent("n"), generator_seed()}, random_signature, no_inputs()),
                      Needs::nothing);
}

Op manual_seed_all_op(const OpRow& row) {
  return over_devices(
      make_op(row, {limited("devices", 2, max_devices), extent("n"), generator_seed()},
              random_over_devices, no_inputs()),
      Needs::other_device);
}

Op data_parallel_op(const OpRow& row) {
  std::vector<Parameter> parameters = stack_parameters();
  parameters.insert(parameters.begin(), limited("devices", 1, max_devices));
  return over_devices(make_op(row, std::move(parameters), stack_over_devices, stack_passes),
                      Needs::nothing);
}

Op distributed_gradient_op(const OpRow& row) {
  Op op = on_the_layer(
      make_op(row,
              {limited("ranks", 1, max_devices), extent("samples"), extent("in"), extent("out")},
              gradient_signature, gradient_passes),
      Needs::nothing);
  op.collective = true;
  return op;
}

std::vector<Op> make_table() {
  using enum DType;
  return {
      // clang-format off
      placed_copy({"device_query", "y = x; the device is there, counted, named and current", {f32}}, Needs::nothing),
      placed_copy({"absent_device_refused", "y = x; a device that is not there is refused", {f32}}, Needs::nothing),
      visible_mask_op({"visible_mask", "y = x; indices count the devices that a mask lets through", {f32}}),
      most_free_op({"most_free", "y = x by way of the device with most free memory", {f32}}),
      device_guard_op({"device_guard", "y = x by way of a device that is current for a while", {f32}}),
      placed_copy({"born_on_cpu", "y = x by way of a tensor that was told no place", {f32}}, Needs::nothing),
      placed_copy({"move_copies", "y = x, moved; then the original changes", all_formats()}, Needs::other_device),
      placed_copy({"move_stays", "y = x, moved to where it is", {f32}}, Needs::nothing),
      round_trip_op({"round_trip", "y = x, to the CPU and to the device and back", all_formats()}),
      placed_copy_over_devices({"move_between", "y = x, moved from device to device", {f32, i8}}),
      placed_copy_over_devices({"mixed_peers_refused", "y = x; an op, and a module, on tensors of two devices is refused", {f32}}),
      results_stay_op({"results_stay", "y[i] = x[i] x[i] where x is", {f32, i64}}),
      placed_copy({"mixed_devices_refused", "y = x; an op on tensors of two devices is refused", {f32}}, Needs::other_device),
      square_123_op({"square_123", "y = [1, 2, 3] squared", {i64}}),
      linear_module_op({"linear_module", "as linear, by a module that was moved in place", floats()}),
      sequential_op({"sequential", "as linear_stack, by modules one after another", floats()}),
      manual_seed_op({"manual_seed", "as random, by the generator of a device", {f32, f64}}),
      manual_seed_all_op({"manual_seed_all", "as random, by the generators of all devices", {f32}}),
      data_parallel_op({"data_parallel", "as linear_stack, the batch in parts on devices", {f32, bf16}}),
      distributed_gradient_op({"distributed_gradient", "y[o][i] = sum over s of g[s][o] x[s][i] / ranks, the same on every rank; x and g of rank 0", {f32, f64}}),
      // clang-format on
  };
}

}  // namespace

std::span<const Op> scenario_ops() {
  static const std::vector<Op> ops = make_table();
  return ops;
}

const Op* find_scenario(std::string_view name) {
  const auto ops = scenario_ops();
  const auto found = std::ranges::find(ops, name, &Op::name);
  return found == ops.end() ? nullptr : &*found;
}

}  // namespace assay::placement
