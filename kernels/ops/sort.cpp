#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "kernels/core/status.h"
#include "kernels/ops/families.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/row.h"
#include "kernels/ops/views.h"

namespace assay {
namespace {

/// Signature of the places of all elements, each within its line.
Signature places_signature(DType dtype, const Params& params) {
  Signature s = array_signature(dtype, params);
  s.outputs[0].dtype = DType::i64;
  return with_work(s, s.flops);
}

/// Signature of the k greatest elements of each row, and of their places.
Signature selected(DType dtype, const Params& params) {
  const std::int64_t rows = params.integer("rows");
  const std::int64_t cols = params.integer("cols");
  const std::int64_t k = params.integer("k");
  if (k > cols) {
    throw NotApplicable("topk: rows of " + std::to_string(cols) + " elements have no " +
                        std::to_string(k) + " greatest");
  }
  Signature s{.inputs = {{dtype, {rows, cols}}},
              .outputs = {{dtype, {rows, k}}, {DType::i64, {rows, k}}}};
  s.terms = cols;
  return with_work(std::move(s), as_double(rows) * as_double(cols));
}

/// The distinct elements, and how often each occurs.
Signature counted(DType dtype, const Params& params) {
  Signature s = array_signature(dtype, params);
  s.outputs.push_back({DType::i64, s.outputs[0].shape});
  return with_work(s, s.flops);
}

/// Greatest of ordered data: well within the dtype, and far beyond the number of most cases'
/// elements.
double greatest_of(DType dtype) {
  return size_bytes(dtype) == 1 ? 100 : size_bytes(dtype) == 2 ? 6e4 : 1e9;
}

/// All elements as they come, the other way round and so on, and all equal.
Passes with_orders(Passes passes, DType dtype) {
  for (std::int64_t turn = 0; turn < orders; ++turn) {
    const Data ordered{
        .distribution = Distribution::ordered, .range = {0, greatest_of(dtype)}, .turn = turn};
    insert_before_last(passes, Pass{"ordered", {ordered}, any_zero_rule});
  }
  const Data equal{.distribution = Distribution::constant, .needle = 1};
  insert_before_last(passes, Pass{"equal", {equal}, any_zero_rule});
  return passes;
}

/// Numbers of all sizes, infinities, subnormal numbers and NaN, which come last: a sort that counts
/// within a range, or compares keys of bits, sees more than a range.
Passes sorting(DType dtype, const Params& /*params*/) {
  Passes passes = order();
  passes.insert(passes.begin() + 1, Pass{"all_exponents", {any_exponent()}, any_zero_rule});
  return with_each_digit(with_orders(std::move(passes), dtype), dtype);
}

/// Zeros of both signs, which are equal, NaNs of all bits, and infinities, over and over.
Passes with_special_ties(Passes passes) {
  insert_before_last(passes,
                     Pass{"special_ties", {{.distribution = Distribution::few}}, any_zero_rule});
  return passes;
}

/// Where equal elements must be told from each other, or counted.
Passes telling_ties(DType dtype, const Params& params) {
  Passes passes = with_special_ties(sorting(dtype, params));
  // Numbers of which each occurs a few times: most are equal to the next one or to the one before.
  const double many = std::min(greatest_of(dtype), as_double(params.integer("n")) / 4);
  const Data pairs{.distribution = Distribution::small_integers, .range = {-many, many}};
  insert_before_last(passes, Pass{"pairs", {pairs}, any_zero_rule});
  return passes;
}

/// Rows whose greatest elements lie at each border in turn, are of all sizes, infinite, or NaN,
/// which is the greatest of all. Data of many equal ones come last: where a library promises
/// nothing of their places, most of its values have been judged before.
Passes selecting(DType dtype, const Params& params) {
  const TensorSpec x = selected(dtype, params).inputs[0];
  const Passes plain = order();
  Passes passes = with_extremes_in_turns({plain.back()}, x, true, dtype == DType::u8);
  insert_before_last(passes, Pass{"all_exponents", {any_exponent()}, any_zero_rule});
  if (is_floating(dtype)) {
    passes = with_nan_in_turns(with_infinities_in_turns(std::move(passes), x, true), x);
  }
  passes = with_orders(with_near_ties_in_turns(std::move(passes), x), dtype);
  insert_before_last(passes, plain.front());
  return with_special_ties(std::move(passes));
}

}  // namespace

std::vector<Op> sort_ops() {
  const Op sort = make_op({"sort", "y = x in ascending order, NaN last", numbers()}, {size("n")},
                          array_signature, sorting);
  const Op argsort = make_op(
      {"argsort", "y = the indices of x in ascending order, equal ones as they come, NaN last",
       numbers()},
      {size("n")}, places_signature, telling_ties);
  return with_views({
      sort,
      argsort,
      along_axis(sort, "sort_axis", "y[o][.][i] = x[o][.][i] in ascending order, NaN last"),
      along_axis(argsort, "argsort_axis",
                 "y[o][.][i] = the indices of x[o][.][i] in ascending order, equal ones as they "
                 "come, NaN last"),
      make_op({.name = "topk",
               .formula = "y[r] = the k greatest of x[r] in descending order, equal ones as they "
                          "come, NaN first; and their indices",
               .formats = numbers(),
               .independent_rows = "rows",
               .neutral = Neutral::least},
              {extent("rows"), extent("cols"), extent("k")}, selected, selecting),
      make_op({"unique",
               "y = the distinct x[i] in ascending order, each NaN for itself and last, then "
               "zeros; and how often each occurs",
               numbers()},
              {size("n")}, counted, telling_ties),
  });
}

}  // namespace assay
