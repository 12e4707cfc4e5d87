#include "kernels/ops/elementwise.h"

#include <limits>
#include <string_view>
#include <utility>

#include "kernels/core/status.h"
#include "kernels/core/strides.h"
#include "kernels/ops/families.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/views.h"

namespace assay {
namespace {

template <Operands operands>
Signature signature(DType dtype, const Params& params) {
  const TensorSpec tensor = elementwise_tensor(dtype, params);
  const TensorSpec scalar{.dtype = dtype, .shape = {1}};
  TensorSpec mask = tensor;
  mask.dtype = DType::u8;
  Signature s{.inputs = {tensor}, .outputs = {tensor}};
  switch (operands) {
    case Operands::one:
      break;
    case Operands::copied:
      s.is_copy = true;
      break;
    case Operands::two:
      s.inputs = {tensor, tensor};
      break;
    case Operands::three:
      s.inputs = {tensor, tensor, tensor};
      break;
    case Operands::compared:
      s = {.inputs = {tensor, tensor}, .outputs = {mask}};
      break;
    case Operands::tested:
      s.outputs = {mask};
      break;
    case Operands::masked:
      s.inputs = {mask, tensor, tensor};
      break;
    case Operands::with_scalar:
      s.inputs = {tensor, scalar};
      break;
    case Operands::clamped:
      s.inputs = {tensor, scalar, scalar};
      break;
    case Operands::scalar:
      s.inputs = {scalar};
      s.is_constant = true;
      break;
  }
  // One operation for each element; fma counts as two.
  const bool is_fma = operands == Operands::three;
  return with_work(std::move(s), as_double(tensor.elements()) * (is_fma ? 2 : 1));
}

/// For ops without values outside a domain; timed on `plain`.
Passes bit_for_bit_within(const Data& plain) {
  return judged_on(any_exponent(), plain, exact_rule);
}

/// For operations that may return either zero for -0 and +0.
Passes bit_for_bit_any_zero() { return judged_on(any_exponent(), real_data, any_zero_rule); }

/// y = a, the ends of the dtype and NaN too.
Passes filling() {
  Passes passes = moves();
  for (const double end :
       {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()}) {
    const Data constant{.distribution = Distribution::constant, .needle = end};
    insert_before_last(passes, Pass{"ends", {constant}, moved_rule});
  }
  for (const Data& nan : nan_of_any_bits())
    insert_before_last(passes, Pass{"special_operand", {nan}, moved_rule});
  return passes;
}

/// y = x a. Zero and infinity leave no number as it is, and NaN where it is.
Passes scaling() {
  Passes passes = bit_for_bit();
  for (const double factor : {0.0, std::numeric_limits<double>::infinity()}) {
    const Data constant{.distribution = Distribution::constant, .needle = factor};
    insert_before_last(passes, Pass{"special_factor", {any_exponent(), constant}, exact_rule});
  }
  return passes;
}

Data constant(double number) { return {.distribution = Distribution::constant, .needle = number}; }

/// y = min(max(x, low), high), of numbers on both sides of the ends, beyond none and beyond one,
/// and where the ends leave no number between them.
Passes clamping() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double low = 20;
  constexpr double high = 100;
  const auto whole = [](double from, double to) {
    return Data{.distribution = Distribution::small_integers, .range = {from, to}};
  };
  Passes passes;
  const auto add = [&](std::string_view name, const Data& x, double from, double to) {
    passes.push_back(Pass{name, {x, constant(from), constant(to)}, any_zero_rule});
  };
  add("all_exponents", any_exponent(), low, high);
  add("ends", any_exponent(), -infinity, infinity);
  add("one_end", any_exponent(), low, infinity);
  add("one_end", any_exponent(), -infinity, high);
  add("no_number_between", any_exponent(), high, low);
  add("below", whole(0, low), low, high);
  add("above", whole(high, 120), low, high);
  add("around_zero", any_exponent(), -1, 1);
  // Ends that nobody foresees, and, where the dtype ends or a half of a word begins anew, next to
  // x.
  passes.insert(passes.end(), 2, Pass{"any_ends", {real_data}, any_zero_rule});
  constexpr std::int64_t common_places = 3;  // the others are drawn for each tensor
  for (std::int64_t turn = 0; turn < common_places; ++turn) {
    const Data near{.distribution = Distribution::near_ties, .turn = turn};
    passes.push_back({"near_ties", {near}, any_zero_rule});
  }
  for (const std::int64_t turn : {0, 1}) {
    add("signs", {.distribution = Distribution::alternating, .range = {32, 64}, .turn = turn},
        -infinity, infinity);
  }
  add("real_data", uniform({-50, 150}), low, high);
  return passes;
}

/// Whole numbers, halves and what is next to them: from where on all numbers of f32 and of f64 are
/// whole, and where adding that number, as some do, rounds wrongly.
constexpr double of_rounding[] = {0.5,
                                  -0.5,
                                  1.5,
                                  -1.5,
                                  2.5,
                                  -2.5,
                                  1,
                                  -1,
                                  7,
                                  126.5,
                                  -1023.5,
                                  4194303.5,
                                  8388607.5,
                                  -8388608,
                                  16777215,
                                  2147483647.5,
                                  -2147483648,
                                  2251799813685247.5,
                                  4503599627370495.5,
                                  -4503599627370496.0,
                                  0x1p63};

Passes to_whole_numbers() {
  Passes passes = bit_for_bit_within(uniform({-100, 100}));
  const Data around{.distribution = Distribution::around, .points = of_rounding};
  insert_before_last(passes, Pass{"turning_points", {around}, exact_rule});
  // Halves, which are ties, up to those that the dtype has no more.
  for (const double most : {4.5, 1000.5, 0x1p13 + 0.5, 0x1p22 + 0.5, 0x1p40 + 0.5, 0x1p51 + 0.5}) {
    const Data ties{.distribution = Distribution::small_integers, .range = {-most, most}};
    insert_before_last(passes, Pass{"ties", {ties}, exact_rule});
  }
  return passes;
}

/// y = x is NaN: each element is, in one of two turns. Those that are timed have some too: zeros
/// everywhere would need no look at x.
Passes telling_nan() {
  Passes passes{Pass{"plain_numbers", {real_data}, exact_rule},
                Pass{"real_data", {{.distribution = Distribution::any_bits}}, exact_rule}};
  for (const std::int64_t turn : {0, 1}) {
    const Data either{.distribution = Distribution::masks, .turn = turn};
    insert_before_last(passes, Pass{"masks", {either}, exact_rule});
  }
  return passes;
}

/// y = mask ? a : b
Passes choice_of_two() {
  const Data mask{.distribution = Distribution::small_integers, .range = {0, 1}};
  Passes passes{Pass{"all_exponents", {mask, any_exponent()}, moved_rule}};
  for (const std::int64_t turn : {0, 1}) {
    const Data bytes{.distribution = Distribution::masks, .turn = turn};
    passes.push_back(Pass{"masks", {bytes, real_data}, moved_rule});
  }
  for (const double all : {0.0, 1.0}) {
    passes.push_back(Pass{"one_side", {constant(all), real_data}, moved_rule});
  }
  passes.push_back(Pass{"real_data", {mask, real_data}, moved_rule});
  return passes;
}

/// y = a == b, where most are equal.
Passes equality() {
  Passes passes = order_of_two(false);
  const Data numbers{.distribution = Distribution::alternating, .range = {32, 64}};
  Data same = numbers;
  same.like_first = true;
  insert_before_last(passes, Pass{"equal", {numbers, same}, exact_rule});
  return passes;
}

}  // namespace

TensorSpec elementwise_tensor(DType dtype, const Params& params) {
  const std::int64_t n = params.integer("n");
  const std::int64_t cols = params.integer_or("cols", 0);
  const std::int64_t ld = params.integer_or("ld", 0);
  if (cols == 0 && ld == 0) return {.dtype = dtype, .shape = {n}};
  if (cols == 0 || (ld != 0 && ld < cols) || n % cols != 0) {
    throw NotApplicable(
        "elementwise ops: rows of 'cols' elements, 'ld' apart, need cols <= ld and n a "
        "multiple of cols; given " +
        params.text());
  }
  const Shape shape{n / cols, cols};
  return {.dtype = dtype, .shape = shape, .strides = strides_of_gaps(shape, ld)};
}

SignatureOf elementwise_signature(Operands operands) {
  switch (operands) {
    case Operands::one:
      return signature<Operands::one>;
    case Operands::copied:
      return signature<Operands::copied>;
    case Operands::two:
      return signature<Operands::two>;
    case Operands::three:
      return signature<Operands::three>;
    case Operands::compared:
      return signature<Operands::compared>;
    case Operands::tested:
      return signature<Operands::tested>;
    case Operands::masked:
      return signature<Operands::masked>;
    case Operands::with_scalar:
      return signature<Operands::with_scalar>;
    case Operands::clamped:
      return signature<Operands::clamped>;
    case Operands::scalar:
      return signature<Operands::scalar>;
  }
  __builtin_unreachable();
}

std::vector<Parameter> elementwise_parameters() {
  return {size("n"), optional_extent("cols"), optional_extent("ld")};
}

Op elementwise(const OpRow& row, Operands operands, Passes passes) {
  return make_op(row, elementwise_parameters(), elementwise_signature(operands), std::move(passes));
}

std::vector<Op> elementwise_ops() {
  const Data above_zero = uniform({0x1p-10, 10});
  return with_views({
      // clang-format off
      elementwise({"fill", "y[i] = a", numbers_and_bytes()}, Operands::scalar, filling()),
      elementwise({"copy", "y[i] = x[i]", numbers_and_bytes()}, Operands::copied, moves()),
      elementwise({"neg", "y[i] = -x[i]; integers wrap", signed_numbers()}, Operands::one, bit_for_bit()),
      elementwise({"abs", "y[i] = |x[i]|; integers wrap", signed_numbers()}, Operands::one, bit_for_bit()),
      elementwise({"add", "y[i] = a[i] + b[i]; integers wrap", numbers()}, Operands::two, bit_for_bit()),
      elementwise({"sub", "y[i] = a[i] - b[i]; integers wrap", numbers()}, Operands::two, bit_for_bit()),
      elementwise({"mul", "y[i] = a[i] b[i]; integers wrap", numbers()}, Operands::two, bit_for_bit()),
      elementwise({"div", "y[i] = a[i] / b[i]", floats()}, Operands::two, bit_for_bit()),
      elementwise({"fma", "y[i] = a[i] b[i] + c[i], rounded once", floats()}, Operands::three,
                  with_signs_in_turns(bit_for_bit(), {1, 2})),
      elementwise({"scale", "y[i] = x[i] a; integers wrap", numbers()}, Operands::with_scalar, scaling()),
      elementwise({"square", "y[i] = x[i] x[i]; integers wrap", numbers()}, Operands::one, bit_for_bit()),
      elementwise({"sqrt", "y[i] = square root of x[i]", floats()}, Operands::one, bit_for_bit_within(above_zero)),
      elementwise({"floor", "y[i] = greatest whole number up to x[i]", floats()}, Operands::one, to_whole_numbers()),
      elementwise({"ceil", "y[i] = least whole number from x[i] on", floats()}, Operands::one, to_whole_numbers()),
      elementwise({"round", "y[i] = whole number next to x[i], half to even", floats()}, Operands::one, to_whole_numbers()),
      elementwise({"isnan", "y[i] = x[i] is NaN", floats()}, Operands::tested, telling_nan()),
      elementwise({"clamp", "y[i] = min(max(x[i], a), b); NaN stays", numbers()}, Operands::clamped, clamping()),
      elementwise({"relu", "y[i] = max(x[i], 0); NaN stays", floats()}, Operands::one,
                  with_signs_in_turns(bit_for_bit_any_zero(), {32, 64})),
      elementwise({"min", "y[i] = min(a[i], b[i]); NaN if either is", numbers()}, Operands::two, with_choices_in_turns(order_of_two(true))),
      elementwise({"max", "y[i] = max(a[i], b[i]); NaN if either is", numbers()}, Operands::two, with_choices_in_turns(order_of_two(true))),
      elementwise({"less", "y[i] = a[i] < b[i]", numbers()}, Operands::compared, with_choices_in_turns(order_of_two(false))),
      elementwise({"equal", "y[i] = a[i] == b[i]", numbers()}, Operands::compared, equality()),
      elementwise({"where", "y[i] = mask[i] ? a[i] : b[i]", numbers()}, Operands::masked, choice_of_two()),
      // clang-format on
  });
}

}  // namespace assay
