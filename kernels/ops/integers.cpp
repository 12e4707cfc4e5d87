#include <limits>

#include "kernels/ops/elementwise.h"
#include "kernels/ops/families.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/views.h"

// Elementwise ops that only integers have.
namespace assay {
namespace {

std::vector<Format> integers() { return {DType::i64, DType::i32, DType::u8}; }

Data whole(double low, double high) {
  return {.distribution = Distribution::small_integers, .range = {low, high}};
}

Pass exact(std::string_view name, const Data& a, const Data& b) {
  return {name, {a, b}, exact_rule};
}

/// Numbers whose neighbours differ.
Data in_turns(std::int64_t turn) {
  return {.distribution = Distribution::alternating, .range = {32, 64}, .turn = turn};
}

/// Quotients of all sizes, of small numbers, which often leave no rest, and large ones, in which
/// each a shows. Divisors are never 0, and -1 only of numbers whose negative the dtype has.
Passes divisions(DType dtype, const Params& /*params*/) {
  const Data any = any_exponent();
  const Data divisors{.distribution = Distribution::divisors};
  Passes passes{exact("all_sizes", any, divisors), exact("small", whole(-16, 16), whole(1, 7)),
                exact("small", whole(-100, 100), divisors)};
  if (dtype != DType::u8) {
    passes.push_back(exact("small", whole(-16, 16), whole(-7, -1)));
    passes.push_back(exact("minus_one", whole(-100, 100), whole(-1, -1)));
  }
  for (const std::int64_t turn : {0, 1}) {
    passes.push_back(exact("signs", in_turns(turn), whole(199, 199)));
    passes.push_back(exact("signs", whole(199, 199), in_turns(turn)));
  }
  passes.push_back(exact("real_data", any, whole(2, 9)));
  return passes;
}

/// By each number of bits that leaves some, and none.
Passes shifts(DType dtype, const Params& /*params*/) {
  const double bits = 8.0 * static_cast<double>(size_bytes(dtype));
  const Data any = any_exponent();
  Passes passes{exact("all_shifts", any, whole(0, bits - 1)),
                exact("short_shifts", any, whole(0, 3))};
  const Data greatest{.distribution = Distribution::constant,
                      .needle = std::numeric_limits<double>::infinity()};
  for (const std::int64_t turn : {0, 1}) {
    const Data other_half{.distribution = Distribution::pairs,
                          .range = {0, bits / 2 - 0.5},
                          .turn = turn,
                          .needle = bits / 2};
    passes.push_back(exact("each_shift", greatest, other_half));
    passes.push_back(exact("signs", in_turns(turn), whole(0, 0)));
  }
  passes.push_back(exact("real_data", any, whole(0, bits / 2)));
  return passes;
}

/// Any bits; and all or none in one operand, so that the other one shows or does not.
Passes bits(DType dtype, const Params& /*params*/) {
  const double all_set = dtype == DType::u8 ? 255 : -1;
  Passes passes;
  for (const double all : {0.0, all_set}) {
    for (const std::int64_t turn : {0, 1}) {
      passes.push_back(exact("all_alike", in_turns(turn), whole(all, all)));
      passes.push_back(exact("all_alike", whole(all, all), in_turns(turn)));
    }
  }
  passes.push_back(exact("real_data", any_exponent(), any_exponent()));
  return passes;
}

Op binary(const OpRow& row, Passes (*passes)(DType, const Params&)) {
  return make_op(row, elementwise_parameters(), elementwise_signature(Operands::two), passes);
}

}  // namespace

std::vector<Op> integers_ops() {
  return with_views({
      // clang-format off
      binary({"floor_divide", "y[i] = floor(a[i] / b[i]); b[i] is not 0", integers()}, divisions),
      binary({"remainder", "y[i] = a[i] - b[i] floor(a[i] / b[i]); b[i] is not 0", integers()}, divisions),
      binary({"shift_left", "y[i] = a[i] 2^b[i], its lowest bits; b[i] from 0, below their number", integers()}, shifts),
      binary({"shift_right", "y[i] = floor(a[i] / 2^b[i]); b[i] from 0, below the number of bits", integers()}, shifts),
      binary({"bit_and", "y[i] = a[i] and b[i], bit by bit", integers()}, bits),
      binary({"bit_or", "y[i] = a[i] or b[i], bit by bit", integers()}, bits),
      binary({"bit_xor", "y[i] = a[i] or b[i] but not both, bit by bit", integers()}, bits),
      elementwise({"bit_not", "y[i] = the other bits than x[i]", integers()}, Operands::one, bit_for_bit()),
      // clang-format on
  });
}

}  // namespace assay
