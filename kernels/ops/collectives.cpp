#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "kernels/core/status.h"
#include "kernels/ops/families.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/row.h"

namespace assay {
namespace {

Signature allreduce_signature(DType dtype, const Params& params) {
  // With more ranks no dense integers have sums that the message's dtype holds exactly, and the
  // bound of an average needs 2 n u <= 1.
  const std::int64_t most = std::int64_t{1} << std::min(30, precision_bits(dtype) - 1);
  if (params.integer("ranks") > most) {
    throw NotApplicable("allreduce in " + std::string(name(dtype)) +
                        " has no test data for more than " + std::to_string(most) + " ranks");
  }
  const TensorSpec tensor{.dtype = dtype, .shape = {params.integer("count")}};
  Signature s{.inputs = {tensor}, .outputs = {tensor}};
  s.ranks = static_cast<int>(params.integer("ranks"));
  s.is_copy = s.ranks == 1 && params.word("reduce") != "premul_sum";
  s.terms = s.ranks;
  // Partial sums travel in the message's dtype, and are rounded to it.
  s.accumulate_in = dtype;
  s.in_place = params.find("place") != nullptr;  // the default, out of place, is left out
  // Message size as nccl-tests counts it: algbw = bytes / time.
  s.bytes = static_cast<double>(tensor.bytes());
  s.flops = static_cast<double>(tensor.elements()) * (s.ranks - 1);
  return s;
}

Passes allreduce_passes(DType dtype, const Params& params) {
  const std::string& reduce = params.word("reduce");
  const auto ranks = static_cast<std::uint64_t>(params.integer("ranks"));
  const double u = unit_roundoff(dtype);
  // Each rank has its own specials, so only a few of each kind meet.
  const auto with_some = [](Passes finite, Specials specials = Specials::all) {
    return with_specials(std::move(finite), specials, 16);
  };
  if (reduce == "sum") return with_some(finite_sums(plain_sum_rule));
  // Doubling is exact, before the sum and after it.
  if (reduce == "premul_sum") return with_some(finite_sums(sum_rule));
  if (reduce == "min" || reduce == "max") return order_of_two(true);
  if (reduce == "prod") {
    Passes passes = finite_products();
    // u is the message's: with 16 bits, K u is less than the error of K - 1 roundings, which is (1
    // + u)^(K - 1) - 1 for every K.
    if (u > 0) {
      passes[1].rule.per_term = 0;
      passes[1].rule.extra = std::expm1(static_cast<double>(ranks - 1) * std::log1p(u)) / u;
    }
    return with_some(std::move(passes), Specials::nonfinite);
  }
  // avg: integers truncate the quotient of a sum that may wrap. Division by a power of two is
  // exact. Any other divisor adds the roundings of 1/n and of the quotient. Second-order terms are
  // below 2 n u^2 S for n - 1 additions. Since L = n allows one rounding more than n - 1, it covers
  // them while 2 n u <= 1.
  Passes passes = finite_sums(sum_rule);
  if (!is_floating(dtype)) {
    passes[1].data = passes[0].data;
    passes[1].rule = exact_rule;
  } else {
    if (!std::has_single_bit(ranks)) passes[0].rule = {.oracle = Oracle::sum_bound, .extra = 2};
    passes[1].rule.extra = 2;
  }
  return with_some(std::move(passes));
}

}  // namespace

std::vector<Op> collective_ops() {
  Op allreduce =
      make_op({"allreduce",
               "y[rank][i] = sum (prod, min, max, avg) over r of x[r][i], the same on every rank; "
               "premul_sum: of 2 x[r][i]",
               signed_numbers()},
              {choice("reduce", {"sum", "prod", "min", "max", "avg", "premul_sum"}),
               limited("ranks", 1, 1024), extent("count"), optional_choice("place", {"out", "in"})},
              allreduce_signature, allreduce_passes);
  allreduce.collective = true;
  return {allreduce};
}

}  // namespace assay
