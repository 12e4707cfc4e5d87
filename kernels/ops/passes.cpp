#include "kernels/ops/passes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/ops/borders.h"

namespace assay {
namespace {

constexpr double f32_max = std::numeric_limits<float>::max();
constexpr double f64_max = std::numeric_limits<double>::max();

constexpr std::int64_t max_quick_elements = 1 << 17;  // above, a launch takes long

/// Number of terms, in a row, that f32 may add to one number where all err the same way: by 0.4% of
/// the sum at most. Of 2^24 terms a loop with 64 sums at once errs by 0.14%, with 16 by 1.2%.
constexpr std::int64_t max_equal_terms = 1 << 16;

/// Power of two with which sums of so many products of `factors` numbers of about 1 stay finite in
/// f16.
double scale_of_sums(DType dtype, std::int64_t terms, int factors) {
  const int log_terms = std::bit_width(static_cast<std::uint64_t>(terms));
  const int shift = dtype == DType::f16 ? std::max(0, log_terms - 15) : 0;
  return std::ldexp(1.0, -((shift + factors - 1) / factors));
}

/// Judged by the rule of the last one.
void insert(Passes& passes, std::string_view name, std::vector<Data> data) {
  insert_before_last(passes, Pass{name, std::move(data), passes.back().rule});
}

}  // namespace

void insert_before_last(Passes& passes, Pass pass) {
  passes.insert(passes.end() - 1, std::move(pass));
}

Data any_exponent() { return stratified({-f32_max, f32_max}, {-f64_max, f64_max}); }

Data stratified(Range range, Range range_f64) {
  return {.distribution = Distribution::stratified, .range = range, .range_f64 = range_f64};
}

Data of_both_signs(double low, double high, std::int64_t turn, double shift) {
  return {.distribution = Distribution::pairs,
          .range = {-high, 1 - low},
          .turn = turn,
          .needle = low + high + shift};
}

Data uniform(Range range) { return {.distribution = Distribution::uniform, .range = range}; }

std::array<Data, 2> nan_of_any_bits() {
  return {{{.distribution = Distribution::masks, .turn = 0},
           {.distribution = Distribution::masks, .turn = 2}}};
}

Data of_mean_one_half(DType dtype, std::int64_t terms, int factors) {
  const double scale = scale_of_sums(dtype, terms, factors);
  return uniform({-0.5 * scale, 1.5 * scale});
}

Pass partly_beyond_f16(std::int64_t terms) {
  const double f16_max = greatest_number(DType::f16);
  const double variance = static_cast<double>(std::max<std::int64_t>(1, terms)) / 3;  // of [-1, 1)
  const double most = std::min(f16_max, f16_max / std::sqrt(variance));
  return {"large", {uniform({-most, most})}, sum_rule};
}

Passes with_real_data(Passes passes, const Data& data, double unbiased_terms) {
  for (Pass& pass : passes) {
    if (pass.name != "real_data" && pass.name != "special_values") continue;
    const Data old = pass.data.front();
    pass.data = {data};
    pass.data.front().specials = old.specials;
    pass.data.front().run = old.run;
    pass.data.front().runs = old.runs;
    pass.data.front().drawn_scale = old.drawn_scale;
    pass.rule.unbiased_terms = pass.has_specials() ? 0 : unbiased_terms;
  }
  return passes;
}

double unbiased_squares(DType dtype) { return dtype == DType::bf16 ? 0x1p-8 : unbiased_dots; }

Rule for_symmetric_data(Rule rule) {
  rule.unbiased_terms = std::numeric_limits<double>::infinity();
  return rule;
}

Rule function_rule(const Declared& error) {
  return {
      .oracle = Oracle::function_bound, .ulps = error.ulps, .argument_units = error.argument_units};
}

Passes judged_on(const Data& every_exponent, const Data& plain, const Rule& rule) {
  return {Pass{"all_exponents", {every_exponent}, rule}, Pass{"real_data", {plain}, rule}};
}

Passes bit_for_bit() { return judged_on(any_exponent(), real_data, exact_rule); }

Passes moves() {
  Passes passes = judged_on(any_exponent(), real_data, moved_rule);
  insert_before_last(passes, {"any_bits", {{.distribution = Distribution::any_bits}}, moved_rule});
  return passes;
}

Passes order_of_two(bool any_zero) {
  const Rule rule = any_zero ? any_zero_rule : exact_rule;
  return {Pass{"ties", {{.distribution = Distribution::few}}, rule},
          Pass{"real_data", {real_data}, rule}};
}

Passes order() {
  // So few that a sort by partitions meets many equal ones in each.
  const Data ties{.distribution = Distribution::small_integers, .range = {-16, 16}};
  return {Pass{"ties", {ties}, any_zero_rule}, Pass{"real_data", {real_data}, any_zero_rule}};
}

Passes function(const Declared& error, const Data& domain, const Data& plain,
                std::span<const double> points) {
  Passes passes{Pass{"domain", {domain}, function_rule(error)},
                Pass{"real_data", {plain}, function_rule(error)}};
  insert(passes, "short_numbers", {{.distribution = Distribution::halves}});
  const Data around{.distribution = Distribution::around, .points = points};
  if (!points.empty()) insert(passes, "turning_points", {around});
  return passes;
}

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Turns after which data have been at `places`, which lines take in turns: many lines need one,
/// and so do few long ones, of which shorter tensors have shown all.
std::int64_t turns_of_lines(const TensorSpec& x, std::int64_t places) {
  const std::int64_t lines = x.elements() / std::max<std::int64_t>(1, x.line_elements());
  return lines >= places || x.elements() > max_quick_elements ? 1 : places;
}

/// Numbers on one side of zero, and one nearer to the extreme, but on the same side: a result that
/// begins at zero is wrong.
Data needle_data(Distribution distribution, bool greatest, bool is_unsigned) {
  const bool is_negative = greatest && !is_unsigned;
  Data data{.distribution = distribution, .range = is_negative ? Range{-100, -10} : Range{10, 100}};
  data.needle = !greatest ? 2 : is_unsigned ? 120 : -2;
  return data;
}

}  // namespace

Passes with_signs_in_turns(Passes passes, Range magnitudes) {
  for (const std::int64_t turn : {0, 1}) {
    insert(passes, "signs",
           {{.distribution = Distribution::alternating, .range = magnitudes, .turn = turn}});
  }
  return passes;
}

Passes with_choices_in_turns(Passes passes) {
  // One of the two decides: the other is of the same sign, and near zero.
  constexpr Range far{32, 64};
  constexpr Range near{4, 16};
  for (const bool first : {true, false}) {
    for (const std::int64_t turn : {0, 1}) {
      const auto data = [&](const Range& range) {
        return Data{.distribution = Distribution::alternating, .range = range, .turn = turn};
      };
      insert(passes, "choices", {data(first ? far : near), data(first ? near : far)});
    }
  }
  return passes;
}

Passes with_extremes_in_turns(Passes passes, const TensorSpec& x, bool greatest, bool is_unsigned) {
  const std::vector<std::int64_t> of_line = borders(x.line_elements());
  const LinePlaces places(x);
  Data data = needle_data(Distribution::needle, greatest, is_unsigned);
  for (std::int64_t turn = 0; turn < places.turns(); ++turn) {
    constexpr std::int64_t near_end = 8;
    const std::int64_t place = places.place(0, turn);
    if (x.elements() > max_quick_elements && place > 1 && place < x.line_elements() - near_end)
      continue;
    data.turn = turn;
    insert(passes, "needles", {data});
  }
  // Elsewhere too, alone and then with an equal one behind it.
  constexpr std::int64_t drawn_turns = 8;
  const std::int64_t drawn = std::max<std::int64_t>(2, turns_of_lines(x, drawn_turns));
  for (std::int64_t turn = 0; turn < drawn; ++turn) {
    data.turn = places.turns() + turn;
    insert(passes, "needles", {data});
  }
  if (!is_unsigned) {  // a zero may be nearest to the extreme
    data.turn = std::ssize(of_line) - 1;
    data.needle = greatest ? -0.0 : 0.0;
    insert(passes, "needles", {data});
  }
  insert(passes, "ends",
         {{.distribution = Distribution::constant, .needle = greatest ? -infinity : infinity}});
  return passes;
}

namespace {

/// Turns in which each line has two equal needles, at drawn places.
std::array<std::int64_t, 2> turns_of_two(const TensorSpec& x) {
  const std::int64_t twice = LinePlaces(x).turns() + 1;
  return {twice, twice + 2};
}

}  // namespace

Passes with_outliers(Passes passes, const TensorSpec& x) {
  constexpr double high = 4000;  // where the second greatest is half of it, e^2000 is infinite too
  Data data{.distribution = Distribution::needle, .range = {-10, 10}, .needle = high};
  const std::int64_t rows = x.elements() / x.line_elements();
  // Rows side by side are at different borders.
  for (std::int64_t turn = 0; turn < LinePlaces(x).turns(); turn += rows) {
    data.turn = turn;
    Pass pass = passes.back();
    pass.name = "outliers";
    pass.rule.unbiased_terms = 0;
    pass.data = {data, pass.data_of(1)};
    insert_before_last(passes, std::move(pass));
    if (x.elements() > max_quick_elements) break;
  }
  return passes;
}

Passes with_infinities_in_turns(Passes passes, const TensorSpec& x, bool greatest) {
  Data data{.distribution = Distribution::needle, .range = {10, 100}};
  data.needle = greatest ? infinity : -infinity;
  for (const std::int64_t turn : turns_of_two(x)) {
    data.turn = turn;
    insert(passes, "infinities", {data});
  }
  return passes;
}

Passes with_nan_in_turns(Passes passes, const TensorSpec& x) {
  Data data{.distribution = Distribution::needle, .range = {10, 100}};
  data.needle = std::numeric_limits<double>::quiet_NaN();
  const std::int64_t last = std::ssize(borders(x.line_elements())) - 1;
  const auto [twice, again] = turns_of_two(x);
  for (const std::int64_t turn : {std::int64_t{0}, last / 2, last, twice, again}) {
    data.turn = turn;
    insert(passes, "nan", {data});
  }
  return passes;
}

Passes with_near_ties_in_turns(Passes passes, const TensorSpec& x) {
  for (std::int64_t turn = 0; turn < turns_of_lines(x, near_tie_places); ++turn) {
    insert(passes, "near_ties", {{.distribution = Distribution::near_ties, .turn = turn}});
  }
  return passes;
}

Passes with_each_digit(Passes passes, DType dtype) {
  for (std::int64_t byte = 0; byte < static_cast<std::int64_t>(size_bytes(dtype)); ++byte) {
    // Elsewhere in the dtype's range for each.
    const std::int64_t turn = byte * near_tie_places + byte % near_tie_places;
    insert(passes, "near_ties", {{.distribution = Distribution::near_ties, .turn = turn}});
  }
  return passes;
}

Passes with_all_sizes_in_turns(Passes passes, const TensorSpec& x, const Rule& rule) {
  return with_all_sizes_of_one(std::move(passes), x, rule, {}, 0);
}

Passes with_all_sizes_of_one(Passes passes, const TensorSpec& x, const Rule& rule,
                             const Data& other, std::size_t factor) {
  for (std::int64_t turn = 0; turn < turns_of_lines(x, scattered_places); ++turn) {
    Pass pass{"all_sizes", {other, other, other}, rule};
    pass.data.at(factor) = {.distribution = Distribution::scattered, .turn = turn};
    pass.rule.plain_sums = false;
    insert_before_last(passes, std::move(pass));
  }
  return passes;
}

double greatest_number(DType dtype) {
  return std::ldexp(2 - 2 * unit_roundoff(dtype), largest_exponent(dtype));
}

Passes with_overflow(Passes passes, DType dtype) {
  const Data greatest{.distribution = Distribution::constant, .needle = greatest_number(dtype)};
  insert_before_last(passes, Pass{"overflow", {greatest}, exact_rule});
  return passes;
}

Passes with_ranks_in_turns(Passes passes, std::int64_t ranks, bool greatest, bool is_unsigned) {
  constexpr std::int64_t max_turns = 16;
  Data data = needle_data(Distribution::rank_needle, greatest, is_unsigned);
  // Once more at the end: what a rank had in the launch before must show too.
  for (std::int64_t turn = 0; turn <= std::min(ranks, max_turns); ++turn) {
    data.turn = turn;
    insert(passes, "needles", {data});
  }
  return passes;
}

Passes finite_sums(const Rule& real_rule) {
  return {Pass{"exact_data", {exact_data}, exact_rule},
          Pass{"real_data", {scaled_real_data}, for_symmetric_data(real_rule)}};
}

Passes sums() { return with_specials(finite_sums(sum_rule), Specials::all); }

Passes plain_sums() { return with_specials(finite_sums(plain_sum_rule), Specials::all); }

Passes sum_then_operation(const Rule& real_rule, Specials specials) {
  return with_specials({Pass{"exact_data", {exact_data}, function_rule({.ulps = 1})},
                        Pass{"real_data", {scaled_real_data}, for_symmetric_data(real_rule)}},
                       specials);
}

Passes finite_products() {
  return {Pass{"exact_data", {{.distribution = Distribution::factors}}, exact_rule},
          Pass{"real_data",
               {{.distribution = Distribution::near_one}},
               {.oracle = Oracle::relative_bound}}};
}

Passes with_specials(Passes passes, Specials specials, std::int64_t run) {
  Pass special = passes.back();
  special.name = "special_values";
  special.rule.plain_sums = false;
  special.rule.unbiased_terms = 0;
  for (Data& data : special.data) {
    data.specials = specials;
    data.run = run;
    data.drawn_scale = false;  // subnormal factors stay beside others of at most 1
  }
  insert_before_last(passes, std::move(special));
  return passes;
}

Passes with_specials_in_turns(Passes passes, const TensorSpec& x) {
  if (x.line_elements() != x.elements() || x.elements() > max_quick_elements) return passes;
  const auto special = std::ranges::find_if(passes, &Pass::has_specials) - passes.begin();
  if (special == std::ssize(passes)) return passes;
  for (int turn = 1; turn < lone_fates; ++turn) {
    Pass other = passes[static_cast<std::size_t>(special)];
    for (Data& data : other.data) data.turn = turn;
    insert_before_last(passes, std::move(other));
  }
  return passes;
}

// One element of a row of x is not zero, so that a sum has nine terms, of which all but three are
// multiples of one ulp of y, and exact in any order (harness/input/distributions.h, Bf16Parts).
Passes with_bf16_parts(Passes passes) {
  const Data parts{.distribution = Distribution::bf16_parts};
  Rule rule = sum_rule;
  rule.roundings = 3;
  const Data no_bias = uniform({0, 0});
  passes.insert(passes.begin() + 1, Pass{"bf16_parts", {parts, parts, no_bias}, rule});
  return passes;
}

Passes with_lone_terms(Passes passes, const Rule& rule, std::optional<Data> bias) {
  const Data lone{.distribution = Distribution::lone, .range = {1, 2}};
  std::vector<Data> data{lone, lone};
  if (bias) data.push_back(*bias);
  insert_before_last(passes, Pass{"lone_terms", std::move(data), rule});
  passes[passes.size() - 2].rule.plain_sums = false;
  return passes;
}

Passes with_few_terms_in_turns(Passes passes, const TensorSpec& x, Rule rule,
                               std::optional<Data> other) {
  if (x.elements() == 0) return passes;
  const std::int64_t terms = (LinePlaces(x).turns() + 1) / 2;  // of each turn
  rule.roundings = static_cast<double>(terms);
  rule.plain_sums = false;
  for (const std::int64_t turn : {0, 1}) {
    std::vector<Data> data{
        {.distribution = Distribution::at_borders, .range = {1, 2}, .turn = turn}};
    if (other) {
      data.push_back(*other);
      data.back().turn = turn;
    }
    insert_before_last(passes, Pass{"few_terms", std::move(data), rule});
  }
  return passes;
}

Passes with_equal_terms(Passes passes, DType dtype, std::int64_t terms, int factors, Rule rule) {
  // Roundings of 1.2 to multiples of any power of two err much, and nearly always the same way.
  constexpr double number = 1.2;
  if (precision_bits(dtype) > precision_bits(DType::f32) || terms <= 2 * max_equal_terms) {
    return passes;
  }
  Data equal{.distribution = Distribution::constant,
             .drawn_scale = true,
             .needle = number * scale_of_sums(dtype, terms, factors)};
  rule.roundings = max_equal_terms;
  insert_before_last(passes, Pass{"equal_terms", {equal}, rule});
  return passes;
}

Passes no_inputs() { return {Pass{"first", {}, exact_rule}, Pass{"again", {}, exact_rule}}; }

}  // namespace assay
