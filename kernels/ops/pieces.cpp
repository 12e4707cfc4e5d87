#include <limits>
#include <string>
#include <utility>

#include "kernels/core/status.h"
#include "kernels/ops/families.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/row.h"
#include "kernels/ops/views.h"

// Ops that lay the elements of (outer, n, inner) out anew along n.
namespace assay {
namespace {

/// The shape of a tensor of these ops whose middle extent is `n`.
Shape middle(const Params& params, std::int64_t n) {
  return {params.integer("outer"), n, params.integer("inner")};
}

Signature concat_signature(DType dtype, const Params& params) {
  const std::int64_t n = params.integer("n");
  const std::int64_t m = params.integer("m");
  Signature s{.inputs = {{dtype, middle(params, n)}, {dtype, middle(params, m)}},
              .outputs = {{dtype, middle(params, n + m)}}};
  s.is_copy = m == 0;
  return with_work(std::move(s), 0);
}

/// Throws NotApplicable if an element is taken that is not there.
void check_slice(std::int64_t n, std::int64_t start, std::int64_t count, std::int64_t step) {
  if (start <= n && (count == 0 || (start < n && count - 1 <= (n - 1 - start) / step))) return;
  throw NotApplicable("slice: " + std::to_string(count) + " of " + std::to_string(n) +
                      " elements from " + std::to_string(start) + " on, " + std::to_string(step) +
                      " apart, are not there");
}

Signature slice_signature(DType dtype, const Params& params) {
  const std::int64_t n = params.integer("n");
  const std::int64_t count = params.integer("count");
  check_slice(n, params.integer("start"), count, params.integer("step"));
  Signature s{.inputs = {{dtype, middle(params, n)}}, .outputs = {{dtype, middle(params, count)}}};
  s.is_copy = count == n;
  // Counts only the elements taken: others need not be read.
  s.bytes = 2 * static_cast<double>(s.outputs[0].bytes());
  return s;
}

Signature pad_signature(DType dtype, const Params& params) {
  const std::int64_t n = params.integer("n");
  const std::int64_t more = params.integer("before") + params.integer("after");
  Signature s{.inputs = {{dtype, middle(params, n)}, {dtype, {1}}},
              .outputs = {{dtype, middle(params, n + more)}}};
  s.is_copy = more == 0;
  s.is_constant = n == 0;
  return with_work(std::move(s), 0);
}

Signature flip_signature(DType dtype, const Params& params) {
  const std::int64_t n = params.integer("n");
  Signature s{.inputs = {{dtype, middle(params, n)}}, .outputs = {{dtype, middle(params, n)}}};
  s.is_copy = n == 1;
  return with_work(std::move(s), 0);
}

Signature repeat_signature(DType dtype, const Params& params) {
  const std::int64_t n = params.integer("n");
  const std::int64_t times = params.integer("times");
  Signature s{.inputs = {{dtype, middle(params, n)}},
              .outputs = {{dtype, middle(params, element_count({n, times}))}}};
  s.is_copy = times == 1;
  s.is_constant = s.inputs[0].elements() == 1;
  return with_work(std::move(s), 0);
}

/// Besides moves, elements next to each other that surely differ, and differ from launch to launch.
Passes moves_in_turns() { return with_signs_in_turns(moves(), {32, 64}); }

/// Pads also with zeros, the ends of the dtype, and NaN.
Passes padding() {
  constexpr double end = std::numeric_limits<double>::infinity();
  Passes passes = moves_in_turns();
  const auto add = [&](const Data& number) {
    insert_before_last(passes, Pass{"special_operand", {any_exponent(), number}, moved_rule});
  };
  for (const double number : {0.0, -0.0, end, -end})
    add({.distribution = Distribution::constant, .needle = number});
  for (const Data& nan : nan_of_any_bits()) add(nan);
  return passes;
}

/// The parameters of the extents, and further ones.
std::vector<Parameter> with_extents(const Parameter& n, std::vector<Parameter> further) {
  std::vector<Parameter> all{extent("outer"), n, extent("inner")};
  all.insert(all.end(), std::make_move_iterator(further.begin()),
             std::make_move_iterator(further.end()));
  return all;
}

}  // namespace

std::vector<Op> pieces_ops() {
  return with_views({
      make_op({"concat", "y[o][j][i] = j < n ? a[o][j][i] : b[o][j - n][i]", numbers()},
              with_extents(size("n"), {size("m")}), concat_signature, moves_in_turns()),
      make_op({"slice", "y[o][j][i] = x[o][start + j step][i]", numbers()},
              with_extents(extent("n"), {size("start"), size("count"), extent("step")}),
              slice_signature, moves_in_turns()),
      make_op({"pad", "y[o][before + j][i] = x[o][j][i]; a elsewhere", numbers()},
              with_extents(size("n"), {size("before"), size("after")}), pad_signature, padding()),
      make_op({"flip", "y[o][j][i] = x[o][n - 1 - j][i]", numbers()}, with_extents(size("n"), {}),
              flip_signature, moves_in_turns()),
      make_op({"repeat", "y[o][t n + j][i] = x[o][j][i] for each t < times", numbers()},
              with_extents(size("n"), {size("times")}), repeat_signature, moves_in_turns()),
  });
}

}  // namespace assay
