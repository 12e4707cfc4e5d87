#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "harness/input/block_data.h"
#include "harness/input/border_needles.h"
#include "harness/input/castable.h"
#include "harness/input/distributions.h"
#include "harness/input/exact_data.h"
#include "harness/input/fill.h"
#include "harness/input/near_ties.h"
#include "harness/input/ordered.h"
#include "harness/input/scattered.h"
#include "harness/input/turns.h"
#include "kernels/ops/block_input.h"
#include "kernels/ops/borders.h"

namespace assay::input {

/// Place of a tensor among the streams of the generator, and its scale.
struct Stream {
  std::uint64_t seed;
  std::uint64_t id;
  int exponent;  // of the power of two that scales all
  int rank;
};

/// Fills the elements of one input by the distribution of a pass.
template <class T>
class Filler {
 public:
  Filler(const Data& data, const OpInstance& op, int input, const Stream& key,
         std::span<T> elements)
      : data_(data),
        op_(op),
        input_(input),
        key_(key),
        elements_(elements),
        spec_(op.signature.inputs[static_cast<std::size_t>(input)]),
        scale_(data.drawn_scale ? std::ldexp(1.0, key.exponent) : 1.0),
        start_(mix(key.seed ^ key.id)) {
    const bool is_f64 = spec_.dtype == DType::f64 && data.range_f64;
    const Range range = is_f64 ? *data.range_f64 : data.range;
    range_ = {range.low * scale_, range.high * scale_};
  }

  void fill() {
    if constexpr (!is_computed<T>) {
      return draw_convertible();
    } else if (!is_filled_as_block()) {
      draw_computed();
    }
  }

 private:
  void draw_computed() {
    switch (data_.distribution) {
      case Distribution::uniform:
        return draw(Uniform<T>{range_});
      case Distribution::normal:
        return draw(Normal<T>{range_.low, range_.high});
      case Distribution::stratified:
        return draw(Stratified<T>(range_, start_, input_ == 0));
      case Distribution::few:
        return draw(Few<T>{});
      case Distribution::any_bits:
        return draw(AnyBits<T>{});
      case Distribution::small_integers:
      case Distribution::divisors:
      case Distribution::indices:
      case Distribution::border_indices:
        return draw_whole_numbers();
      case Distribution::castable:
        return draw_castable();
      case Distribution::integers:
      case Distribution::whole_powers:
        return draw_exact_integers();
      case Distribution::factors:
        return draw(Factors<T>{terms_of_each_factor(), line(), start_});
      case Distribution::bf16_parts:
        return draw_bf16_parts();
      case Distribution::lone:
        return draw_lone();
      case Distribution::near_one:
        return draw(NearOne<T>{std::min(0.5, 1 / std::sqrt(static_cast<double>(terms())))});
      case Distribution::growing:
        return draw(Growing<T>(static_cast<double>(terms())));
      case Distribution::roots:
        return draw(Roots<T>{scale_});
      case Distribution::identity:
        return set_identity();
      case Distribution::constant:
        return set_constant();
      case Distribution::alternating:
      case Distribution::pairs:
      case Distribution::at_borders:
      case Distribution::near_ties:
      case Distribution::needle:
      case Distribution::two_powers:
      case Distribution::rank_needle:
      case Distribution::ordered:
      case Distribution::masks:
        return fill_in_turns();
      case Distribution::border_needles:
      case Distribution::halves:
      case Distribution::around:
      case Distribution::far_rows:
      case Distribution::blocks:
      case Distribution::scattered:
        if constexpr (!std::is_integral_v<T>) draw_floats();
        return;
      case Distribution::unique_words:
      case Distribution::given:
        return;  // not by elements
    }
  }
  /// Inputs of conversions.
  void draw_convertible() {
    switch (data_.distribution) {
      case Distribution::castable:
        return draw_castable();
      case Distribution::small_integers:
        return draw_small_integers();
      default:
        throw std::logic_error("a dtype that is only converted has no such data");
    }
  }
  template <class Draw>
  void draw(const Draw& draw) {
    input::fill(elements_, key_.seed, key_.id, draw);
  }
  /// Draws what is true, or becomes it, at every second place, and at the others in the next turn:
  /// of most other numbers that are read instead the truth would be the same.
  void draw_small_integers() {
    const SmallIntegers<T> each{range_};
    if (!std::is_same_v<T, Bool8> && output_dtype(op_) != DType::boolean) return draw(each);
    draw([&](std::uint64_t bits, std::int64_t i) {
      return (i + data_.turn) % 2 == 0 ? T{} : each(bits);
    });
  }
  void draw_whole_numbers() {
    switch (data_.distribution) {
      case Distribution::small_integers:
        return draw_small_integers();
      case Distribution::divisors:
        if constexpr (std::is_integral_v<T>) draw(Divisors<T>{});
        return;
      case Distribution::indices:
        return draw(SmallIntegers<T>{{0, static_cast<double>(indexed_rows() - 1)}});
      case Distribution::border_indices:
        return draw_border_indices();
      default:
        return;
    }
  }
  /// Those in which each element decides something.
  void fill_in_turns() {
    switch (data_.distribution) {
      case Distribution::alternating:
        return draw(Alternating<T>{range_, data_.turn, spec_});
      case Distribution::pairs:
        return draw_pairs();
      case Distribution::at_borders:
        return draw_at_borders();
      case Distribution::near_ties:
        return draw(NearTies<T>{data_.run > 0 ? data_.run : line(), data_.turn, start_});
      case Distribution::needle:
        return draw_needles();
      case Distribution::two_powers:
        if constexpr (!std::is_integral_v<T>) draw_two_powers();
        return;
      case Distribution::rank_needle:
        return draw_rank_needle();
      case Distribution::ordered:
        return Ordered<T>(range_, start_).lay(elements_, data_.turn);
      case Distribution::masks:
        return draw(Masks<T>{data_.turn});
      default:
        return;
    }
  }
  void draw_pairs() { draw(Pairs<T>{range_, data_.needle, data_.turn, line()}); }
  void draw_needles() {
    draw(Within<T>{range_});
    if (elements_.empty()) return;
    const LinePlaces places(spec_);
    // Another element is the extreme of a line whose needle is lost, and surely not the one read in
    // its place.
    const double end = data_.needle > range_.high ? range_.high : range_.low;
    const double next = (data_.needle + end) / 2;
    for (std::int64_t i = 0; i * columns() < std::ssize(elements_); ++i) {
      const auto line = elements_.subspan(static_cast<std::size_t>(i * columns()));
      if (std::isfinite(data_.needle)) {
        const std::int64_t half = places.turns() / 2;
        line[static_cast<std::size_t>(places.place(i, data_.turn + half))] = round_to<T>(next);
      }
      // Side by side lie two sizes: a neighbour may be the needle of its line.
      const std::int64_t drawn = data_.turn - places.turns();
      const std::int64_t place =
          drawn < 0 ? places.place(i, data_.turn) : drawn_place(i, 0, columns());
      const bool is_odd = spec_.element_of_line(i, place) % 2 != 0;
      const bool is_alone = columns() == std::ssize(elements_);
      const double needle = is_odd && !is_alone ? (3 * data_.needle + next) / 4 : data_.needle;
      line[static_cast<std::size_t>(place)] = needle_as<T>(needle);
      if (drawn % 2 == 1 && place + 1 < columns()) {
        const std::int64_t behind = drawn_place(i, place + 1, columns());
        line[static_cast<std::size_t>(behind)] = needle_as<T>(needle);
      }
    }
  }
  /// Any place of a line in [begin, end).
  std::int64_t drawn_place(std::int64_t line, std::int64_t begin, std::int64_t end) const {
    const std::uint64_t own =
        mix(start_ + 2 * static_cast<std::uint64_t>(line) + (begin > 0 ? 1 : 0));
    return begin + static_cast<std::int64_t>(own % static_cast<std::uint64_t>(end - begin));
  }
  /// Any subset of the factors has a product in range, so that no order of them is wrong.
  void draw_two_powers() {
    draw([](std::uint64_t bits) { return round_to<T>(with_sign_of(bits, 1)); });
    const int lowest = smallest_exponent(spec_.dtype) - precision_bits(spec_.dtype) + 1;
    for (std::int64_t i = 0; i * columns() < std::ssize(elements_) && columns() > 1; ++i) {
      const auto line = elements_.subspan(static_cast<std::size_t>(i * columns()));
      const std::int64_t first = drawn_place(i, 0, columns());
      const std::int64_t second = (first + drawn_place(i, 1, columns())) % columns();
      const int low = lowest + static_cast<int>(mix(start_ ^ static_cast<std::uint64_t>(i)) %
                                                static_cast<std::uint64_t>(-lowest));
      const int high =
          (i + data_.turn) % 2 == 0 ? std::min(-low, largest_exponent(spec_.dtype)) : 0;
      line[static_cast<std::size_t>(first)] = round_to<T>(-std::ldexp(1.0, low));
      line[static_cast<std::size_t>(second)] = round_to<T>(std::ldexp(1.0, high));
    }
  }
  void draw_rank_needle() {
    draw(RankNeedle<T>{range_, needle_as<T>(data_.needle), data_.turn + key_.rank,
                       std::int64_t{op_.signature.ranks}});
  }
  void set_constant() { std::ranges::fill(elements_, needle_as<T>(data_.needle * scale_)); }
  void thin_out(std::int64_t row, std::int64_t stride) {
    input::thin_out(elements_, row, stride, key_.seed, key_.id);
  }
  std::int64_t terms() const { return std::max<std::int64_t>(1, op_.signature.terms); }
  std::int64_t columns() const { return spec_.line_elements(); }
  /// The same, of a tensor without elements too.
  std::int64_t line() const { return std::max<std::int64_t>(1, columns()); }
  /// Rows of the table that indices choose from.
  std::int64_t indexed_rows() const { return op_.signature.inputs[0].shape.at(0); }

  /// Factors other than +-1 are so few that every partial product is finite: half of the exponents.
  std::int64_t terms_of_each_factor() const {
    const std::int64_t strata =
        is_floating(spec_.dtype) ? largest_exponent(output_dtype(op_)) - 1 : 1;
    return (terms() + strata - 1) / strata;
  }

  bool is_filled_as_block() {
    if constexpr (std::is_same_v<T, std::uint8_t>) {
      const auto block = block_input(op_, static_cast<std::size_t>(input_));
      if (block) fill_block(*block);
      return block.has_value();
    }
    return false;
  }

  /// Fills the elements or the scales of a block-scaled operand.
  void fill_block(const BlockInput& block) {
    const BlockFormat& format = *block_format(op_.format);
    const bool is_exact = data_.distribution == Distribution::integers;
    if (!block.is_scales) {
      is_exact ? draw(BlockIntegers{format, exact_integers(op_).limit}) : draw(BlockReals{format});
    } else if (is_exact) {
      const auto operand = static_cast<int>(block.operand);
      const int lowest = std::ilogb(exact_integers(op_).scale(op_, operand));
      draw(BlockPowers{format, lowest, ExactIntegers::block_spread});
    } else {
      draw(BlockScales{format});
    }
  }

  void draw_castable() {
    const double most = spec_.dtype == DType::f64 ? std::numeric_limits<double>::max()
                                                  : std::numeric_limits<float>::max();
    const Stratified<T> stratified({-most, most}, start_);
    draw([&, to = output_dtype(op_)](std::uint64_t bits, std::int64_t i) {
      return castable_to(stratified.any(bits, i), bits, to);
    });
  }

  void draw_exact_integers() {
    const ExactIntegers exact = exact_integers(op_);
    const bool is_weight = is_stacked_weight(op_, input_);
    draw(Integers<T>{exact.limit, std::ldexp(exact.scale(op_, input_), key_.exponent),
                     is_weight ? 0.5 : 0.9, data_.distribution == Distribution::whole_powers});
    const bool is_stack = op_.signature.factors_per_term > 2;
    if (exact.stride > 1 && (is_stack ? is_weight : input_ == 0)) {
      thin_out(columns(), exact.stride);
    }
  }

  void draw_bf16_parts() {
    draw(Bf16Parts<T>{});
    if (input_ == 0) thin_out(columns(), columns());
  }

  void draw_lone() {
    if constexpr (std::is_same_v<T, double>) {
      // Half of the bits each: the reference of f64 does not round a product of all of them.
      const std::uint64_t kept = op_.signature.factors_per_term > 1 ? ~0ULL << 27U : ~0ULL;
      draw([kept, any = Uniform<T>{range_}](std::uint64_t bits) {
        return std::bit_cast<double>(std::bit_cast<std::uint64_t>(any(bits)) & kept);
      });
    } else {
      draw(Uniform<T>{range_});
    }
    if (input_ > 0 || elements_.empty()) return;
    thin_out(columns(), data_.run > 0 ? data_.run : columns());
  }

  void draw_floats() {
    if (data_.distribution == Distribution::halves) {
      constexpr double most = 65504;
      const Stratified<Float16> each({-most, most}, start_);
      draw([&](std::uint64_t bits, std::int64_t i) { return round_to<T>(widen(each(bits, i))); });
    } else if (data_.distribution == Distribution::around) {
      draw(Around<T>{data_.points});
    } else if (data_.distribution == Distribution::far_rows) {
      const double most = std::ldexp(1.0, largest_exponent(spec_.dtype) - 1);
      draw(FarRows<T>{range_, data_.points, most, line()});
    } else if (data_.distribution == Distribution::border_needles) {
      draw_border_needles();
    } else if (data_.distribution == Distribution::scattered) {
      draw(Scattered<T>{spec_.dtype, line(), data_.turn, start_});
    } else {
      draw(Blocks<T>{});
    }
  }

  void draw_border_indices() {
    draw(SmallIntegers<T>{{0, static_cast<double>(indexed_rows() - 1)}});
    std::vector<std::int64_t> first = borders(indexed_rows());
    // Other ones at each place in each turn, and even one alone reaches the last row.
    if (data_.turn == 0 && !first.empty()) std::ranges::rotate(first, first.end() - 1);
    for (std::size_t i = 0; i < std::min(first.size(), elements_.size()); ++i) {
      elements_[i] = round_to<T>(static_cast<double>(first[i]));
    }
  }

  void draw_at_borders() {
    std::ranges::fill(elements_, T{});
    if (elements_.empty()) return;
    const LinePlaces places(spec_);
    std::uint64_t drawn = 0;
    for (std::int64_t i = 0; i * columns() < std::ssize(elements_); ++i) {
      // Neighbours in lines side by side are zero, or of another size.
      const Uniform<T> number{i % 2 == 0 ? range_ : Range{4 * range_.low, 4 * range_.high}};
      const std::vector<std::int64_t> of_line = places.of(i);
      for (std::size_t j = 0; j < of_line.size(); ++j, ++drawn) {
        if ((static_cast<std::int64_t>(j) + i) % 2 != data_.turn) continue;
        elements_[static_cast<std::size_t>(i * columns() + of_line[j])] =
            number(random_bits(key_.seed, key_.id, drawn));
      }
    }
  }

  void draw_border_needles() {
    draw(Normal<T>{0, 1});
    if (spec_.elements() == 0) return;
    Shape shape = spec_.shape;  // of the elements: fewer rows, where they repeat
    if (!shape.empty()) shape[0] = shape[0] * std::ssize(elements_) / spec_.elements();
    lay_border_needles(elements_, std::span<const std::int64_t>(shape), start_);
  }

  void set_identity() {
    std::ranges::fill(elements_, T{});
    for (std::int64_t row = 0; row * columns() < std::ssize(elements_); ++row) {
      // Even columns stay even ones where rows are more.
      const std::int64_t repeated = std::max<std::int64_t>(1, columns() - columns() % 2);
      const std::int64_t column = row < columns() ? row : row % repeated;
      elements_[static_cast<std::size_t>(row * columns() + column)] = T(1);
    }
  }

  const Data& data_;
  const OpInstance& op_;
  int input_;
  Stream key_;
  std::span<T> elements_;
  const TensorSpec& spec_;
  double scale_;
  std::uint64_t start_;  // launches differ: what one has left behind must not pass in the next
  Range range_;
};

}  // namespace assay::input
