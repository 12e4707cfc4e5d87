#include <bit>
#include <string>
#include <utility>

#include "kernels/core/status.h"
#include "kernels/ops/elementwise.h"
#include "kernels/ops/families.h"
#include "kernels/ops/matmul.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/random.h"

// Ops about the places of tensors and modules. Their steps (harness/placement/scenarios/scenario.h)
// call the kernels of other ops.
namespace assay {
namespace {

constexpr std::int64_t max_places = 64;

/// Applies the op only where there are devices beside the CPU, which is always there.
Op beside_cpu(Op op) {
  op.memory_spaces = {MemorySpace::device, MemorySpace::remote};
  return op;
}

/// Leaves out the ranks of a job: a launcher decides which devices they see, and those of one host
/// share its memory.
Op not_of_ranks(Op op) {
  op.memory_spaces = {MemorySpace::device};
  return op;
}

/// Runs an op of this signature on `devices` devices together.
template <auto signature>
Op over_devices(std::int64_t min_devices, Op op) {
  op.multi_device = true;
  op.parameters.insert(op.parameters.begin(), limited("devices", min_devices, max_places));
  op.signature = +[](Format format, const Params& params) {
    Signature s = SignatureOf(signature)(format, params);
    s.devices = static_cast<int>(params.integer("devices"));
    return s;
  };
  return op;
}

Signature placed_vector(DType dtype, const Params& params) {
  return elementwise_signature(Operands::copied)(dtype, params);
}

Signature placed_matrix(DType dtype, const Params& params) {
  const TensorSpec matrix{dtype, {params.integer("rows"), params.integer("cols")}};
  Signature s{.inputs = {matrix}, .outputs = {matrix}, .is_copy = true};
  return with_work(std::move(s), 0);
}

Signature squares_of_three(DType dtype, const Params& params) {
  return with_work({.outputs = {{dtype, {params.integer("numbers")}}}}, 3);
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
  s.flops = 2.0 * as_double(samples) * as_double(in * out);
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
Op placed_copy(const OpRow& row) { return make_op(row, {extent("n")}, placed_vector, moves()); }

/// y = x over two or more devices.
Op copy_over_devices(const OpRow& row) {
  return beside_cpu(over_devices<placed_vector>(2, placed_copy(row)));
}

Op device_guard_op(const OpRow& row) {
  Op op = copy_over_devices(row);
  op.parameters.push_back(choice("exit", {"normal", "error"}));
  return op;
}

/// Round trip of a matrix in the memory layout `layout`.
Op round_trip_op(const OpRow& row) {
  return beside_cpu(make_op(
      row, {extent("rows"), extent("cols"), choice("layout", {"dense", "transposed", "columns"})},
      placed_matrix, moves()));
}

Op results_stay_op(const OpRow& row) {
  return make_op(row, {extent("n")}, elementwise_signature(Operands::one), bit_for_bit());
}

Op stack_op(const OpRow& row) {
  return make_op(row, stack_parameters(), stack_signature, stack_passes);
}

Op seeded(const OpRow& row) {
  return make_op(row, {extent("n"), generator_seed()}, random_signature, no_inputs());
}

Op distributed_gradient_op(const OpRow& row) {
  Op op = make_op(row,
                  {limited("ranks", 1, max_places), extent("samples"), extent("in"), extent("out")},
                  gradient_signature, gradient_passes);
  op.collective = true;
  return op;
}

}  // namespace

std::vector<Op> placement_ops() {
  using enum DType;
  std::vector<Op> ops{
      // clang-format off
      placed_copy({"device_query", "y = x; the device is there, counted, named and current", {f32}}),
      placed_copy({"absent_device_refused", "y = x; a device that is not there is refused", {f32}}),
      not_of_ranks(placed_copy({"visible_mask", "y = x; indices count the devices that a mask lets through", {f32}})),
      not_of_ranks(copy_over_devices({"most_free", "y = x by way of the device with most free memory", {f32}})),
      device_guard_op({"device_guard", "y = x by way of a device that is current for a while", {f32}}),
      placed_copy({"born_on_cpu", "y = x by way of a tensor that was told no place", {f32}}),
      beside_cpu(placed_copy({"move_copies", "y = x, moved; then the original changes", all_stored()})),
      placed_copy({"move_stays", "y = x, moved to where it is", {f32}}),
      round_trip_op({"round_trip", "y = x, to the CPU and to the device and back", all_stored()}),
      copy_over_devices({"move_between", "y = x, moved from device to device", {f32, i8}}),
      copy_over_devices({"mixed_peers_refused", "y = x; an op, and a module, on tensors of two devices is refused", {f32}}),
      results_stay_op({"results_stay", "y[i] = x[i] x[i] where x is", {f32, i64}}),
      beside_cpu(placed_copy({"mixed_devices_refused", "y = x; an op on tensors of two devices is refused", {f32}})),
      make_op({"square_123", "y = [1, 2, 3] squared", {i64}}, {limited("numbers", 3, 3)}, squares_of_three, no_inputs()),
      make_op({"linear_module", "as linear, by a module that was moved in place", floats()}, linear_parameters(), linear_signature, linear_passes),
      stack_op({"sequential", "as linear_stack, by modules one after another", floats()}),
      seeded({"manual_seed", "as random, by the generator of a device", {f32, f64}}),
      beside_cpu(over_devices<random_signature>(2, seeded({"manual_seed_all", "as random, by the generators of all devices", {f32}}))),
      over_devices<stack_signature>(1, stack_op({"data_parallel", "as linear_stack, the batch in parts on devices", {f32, bf16}})),
      distributed_gradient_op({"distributed_gradient", "y[o][i] = sum over s of g[s][o] x[s][i] / ranks, the same on every rank; x and g of rank 0", {f32, f64}}),
      // clang-format on
  };
  for (Op& op : ops) op.is_scenario = true;
  return ops;
}

}  // namespace assay
