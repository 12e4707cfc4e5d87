#include "kernels/ops/families.h"
#include "kernels/ops/function_errors.h"
#include "kernels/ops/op.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/placements.h"

// Every op that there is, one row each. To add one: docs/adding-an-op.md.
namespace assay {
namespace {

std::vector<Op> make_table() {
  using enum DType;
  const std::vector<DType> floats{f64, f32, bf16, f16};
  const std::vector<DType> signed_numbers{f64, f32, bf16, f16, i64, i32};
  const std::vector<DType> numbers{f64, f32, bf16, f16, i64, i32, u8};
  const std::vector<DType> everything{f64, f32, bf16, f16, i64, i32, i8, u8};
  const std::vector<DType> all_formats{f64, f32, bf16, f16, i64, i32, i8, u8, e4m3, e5m2};

  const Data positive = stratified({0, 3.4e38}, {0, 1.7e308});
  /// From where exp is zero, through the subnormals, to where it is infinite.
  const Data exp_domain = stratified({-104, 89}, {-746, 710});
  const Data tails = stratified({-104, 104}, {-746, 746});
  const Data around_zero = uniform({-10, 10});
  const Data above_zero = uniform({0x1p-10, 10});

  return {
      // clang-format off
      elementwise({"fill", "y[i] = a", everything}, Operands::scalar, moves()),
      elementwise({"copy", "y[i] = x[i]", everything}, Operands::copied, moves()),
      cast_op({"cast", "y[i] = x[i] as `to`: to nearest even, to integers towards zero, integers wrap, e4m3 and e5m2 saturate", all_formats}),
      elementwise({"neg", "y[i] = -x[i]; integers wrap", signed_numbers}, Operands::one, bit_for_bit()),
      elementwise({"abs", "y[i] = |x[i]|; integers wrap", signed_numbers}, Operands::one, bit_for_bit()),
      elementwise({"add", "y[i] = a[i] + b[i]; integers wrap", numbers}, Operands::two, bit_for_bit()),
      elementwise({"sub", "y[i] = a[i] - b[i]; integers wrap", numbers}, Operands::two, bit_for_bit()),
      elementwise({"mul", "y[i] = a[i] b[i]; integers wrap", numbers}, Operands::two, bit_for_bit()),
      elementwise({"div", "y[i] = a[i] / b[i]", floats}, Operands::two, bit_for_bit()),
      elementwise({"fma", "y[i] = a[i] b[i] + c[i], rounded once", floats}, Operands::three, bit_for_bit()),
      elementwise({"scale", "y[i] = x[i] a; integers wrap", numbers}, Operands::with_scalar, bit_for_bit()),
      elementwise({"square", "y[i] = x[i] x[i]; integers wrap", numbers}, Operands::one, bit_for_bit()),
      elementwise({"sqrt", "y[i] = square root of x[i]", floats}, Operands::one, bit_for_bit_within(above_zero)),
      elementwise({"exp", "y[i] = e^x[i]", floats}, Operands::one, function(declared_error("exp"), exp_domain, around_zero)),
      elementwise({"log", "y[i] = natural logarithm of x[i]", floats}, Operands::one, function(declared_error("log"), positive, above_zero)),
      elementwise({"tanh", "y[i] = tanh x[i]", floats}, Operands::one, function(declared_error("tanh"), tails, around_zero)),
      elementwise({"sigmoid", "y[i] = 1 / (1 + e^-x[i])", floats}, Operands::one, function(declared_error("sigmoid"), tails, around_zero)),
      elementwise({"relu", "y[i] = max(x[i], 0); NaN stays", floats}, Operands::one, bit_for_bit_any_zero()),
      elementwise({"gelu", "y[i] = x[i]/2 (1 + erf(x[i]/sqrt 2))", floats}, Operands::one, function(declared_error("gelu"), tails, around_zero)),
      elementwise({"gelu_tanh", "y[i] = x[i]/2 (1 + tanh(sqrt(2/pi) (x[i] + 0.044715 x[i]^3)))", floats}, Operands::one, function(declared_error("gelu_tanh"), tails, around_zero)),
      elementwise({"pow", "y[i] = a[i]^b[i]", floats}, Operands::two, function_of_two(declared_error("pow"), positive, uniform({-4, 4}), above_zero, uniform({-4, 4}))),
      elementwise({"min", "y[i] = min(a[i], b[i]); NaN if either is", numbers}, Operands::two, order_of_two(true)),
      elementwise({"max", "y[i] = max(a[i], b[i]); NaN if either is", numbers}, Operands::two, order_of_two(true)),
      elementwise({"less", "y[i] = a[i] < b[i]", numbers}, Operands::compared, order_of_two(false)),
      elementwise({"equal", "y[i] = a[i] == b[i]", numbers}, Operands::compared, order_of_two(false)),
      elementwise({"where", "y[i] = mask[i] ? a[i] : b[i]", numbers}, Operands::masked, choice_of_two()),
      random_op({"random", "y[i] from Philox 4x32-10: floats in [0, 1), integers of all bits", numbers}),

      reduction({"sum", "y = sum of x[i]; integers wrap", signed_numbers}, 1, Least::none, sums()),
      reduction({"prod", "y = product of x[i]; integers wrap", signed_numbers}, 1, Least::none, products()),
      reduction({"mean", "y = sum of x[i] / n", floats}, 1, Least::one, sum_then_operation({.oracle = Oracle::sum_bound, .extra = 2})),
      reduction({"reduce_min", "y = least x[i]", numbers}, 1, Least::one, extremes()),
      reduction({"reduce_max", "y = greatest x[i]", numbers}, 1, Least::one, extremes()),
      index_reduction({"argmax", "y = the lowest i of the greatest x[i]", numbers}, extremes()),
      reduction({"dot", "y = sum of a[i] b[i]", floats}, 2, Least::none, sums()),
      norm_op({"norm2", "y = square root of the sum of x[i]^2", floats}, sum_then_operation({.oracle = Oracle::relative_bound, .per_term = 0.5, .extra = 2})),
      whole_array({"scan", "y[i] = x[0] + ... + x[i]; integers wrap", signed_numbers}, running_sums()),
      whole_array({"sort", "y = x in ascending order", numbers}, order()),

      rowwise({"softmax", "y[r][c] = e^(x[r][c] - m) / sum over j of e^(x[r][j] - m), m the maximum of row r", floats}, softmax_passes()),
      rowwise_affine({"layernorm", "y[r][c] = (x[r][c] - mean of row r) / sqrt(its variance + 1e-5) weight[c] + bias[c]", floats}, layernorm_passes()),
      transpose_op({"transpose", "y[c][r] = x[r][c]", numbers}),
      gather_op({"gather", "y[i][c] = x[index[i]][c]", numbers}),
      batched_matmul_op({"batched_matmul", "y[b][i][j] = sum over l of a[b][i][l] b[b][l][j]", floats, {tf32}}),

      linear_op({"linear", "y[b][o] = act(sum over i of x[b][i] w[o][i] + bias[o]); i8 gives i32, e4m3 bf16", {f64, f32, bf16, f16, i8}, {tf32, e4m3}}),
      linear_stack_op({"linear_stack", "`layers` times linear, each on the output of the one before", floats, {tf32}}),

      memcpy_op({"memcpy", "y[i] = x[i], by one thread or by all", {u8}}),
      memcpy_2d_op({"memcpy_2d", "y[r][c] = x[r][c], rows `pitch` bytes apart", {u8}}),
      device_memcpy_op({"device_memcpy", "y[i] = x[i], one of them in the memory of a device; both ways: both at once", {u8}}),
      peer_memcpy_op({"peer_memcpy", "y[i] = x[i], from one device to another; both ways: both at once", {u8}}),

      stream_op({"stream_read", "y = exclusive or of x[i]", {i64}}, Streams::read, bit_for_bit()),
      stream_op({"stream_write", "y[i] = a", {f64}}, Streams::write, moves()),
      stream_op({"stream_copy", "y[i] = x[i]", {f64}}, Streams::copy, moves()),
      stream_op({"stream_triad", "y[i] = a[i] + s b[i], rounded once", {f64}}, Streams::triad, bit_for_bit()),

      allreduce_op({"allreduce", "y[rank][i] = sum (prod, min, max, avg) over r of x[r][i], the same on every rank; premul_sum: of 2 x[r][i]", signed_numbers}),

      placed_copy({"device_query", "y = x; the device is there, counted, named and current", {f32}}, Needs::nothing),
      placed_copy({"absent_device_refused", "y = x; a device that is not there is refused", {f32}}, Needs::nothing),
      visible_mask_op({"visible_mask", "y = x; indices count the devices that a mask lets through", {f32}}),
      most_free_op({"most_free", "y = x by way of the device with most free memory", {f32}}),
      device_guard_op({"device_guard", "y = x by way of a device that is current for a while", {f32}}),
      placed_copy({"born_on_cpu", "y = x by way of a tensor that was told no place", {f32}}, Needs::nothing),
      placed_copy({"move_copies", "y = x, moved; then the original changes", all_formats}, Needs::other_device),
      placed_copy({"move_stays", "y = x, moved to where it is", {f32}}, Needs::nothing),
      round_trip_op({"round_trip", "y = x, to the CPU and to the device and back", all_formats}),
      placed_copy_over_devices({"move_between", "y = x, moved from device to device", {f32, i8}}),
      placed_copy_over_devices({"mixed_peers_refused", "y = x; an op, and a module, on tensors of two devices is refused", {f32}}),
      results_stay_op({"results_stay", "y[i] = x[i] x[i] where x is", {f32, i64}}),
      placed_copy({"mixed_devices_refused", "y = x; an op on tensors of two devices is refused", {f32}}, Needs::other_device),
      square_123_op({"square_123", "y = [1, 2, 3] squared", {i64}}),
      linear_module_op({"linear_module", "as linear, by a module that was moved in place", floats}),
      sequential_op({"sequential", "as linear_stack, by modules one after another", floats}),
      manual_seed_op({"manual_seed", "as random, by the generator of a device", {f32, f64}}),
      manual_seed_all_op({"manual_seed_all", "as random, by the generators of all devices", {f32}}),
      data_parallel_op({"data_parallel", "as linear_stack, the batch in parts on devices", {f32, bf16}}),
      distributed_gradient_op({"distributed_gradient", "y[o][i] = sum over s of g[s][o] x[s][i] / ranks, the same on every rank; x and g of rank 0", {f32, f64}}),
      // clang-format on
  };
}

const std::vector<Op>& table() {
  static const std::vector<Op> ops = make_table();
  return ops;
}

}  // namespace

std::span<const Op> all_ops() { return table(); }

const Op* find_op(std::string_view name) {
  for (const Op& op : all_ops()) {
    if (op.name == name) return &op;
  }
  return nullptr;
}

}  // namespace assay
