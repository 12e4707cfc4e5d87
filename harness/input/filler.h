#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "harness/input/block_data.h"
#include "harness/input/border_needles.h"
#include "harness/input/castable.h"
#include "harness/input/distributions.h"
#include "harness/input/exact_data.h"
#include "harness/input/fill.h"
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
    if (is_filled_as_block()) return;
    switch (data_.distribution) {
      case Distribution::uniform:
        return draw(Uniform<T>{range_});
      case Distribution::normal:
        return draw(Normal<T>{range_.low, range_.high});
      case Distribution::stratified:
        return draw(Stratified<T>(range_, start_, input_ == 0));
      case Distribution::few:
        return draw(Few<T>{});
      case Distribution::small_integers:
        return draw(SmallIntegers<T>{range_});
      case Distribution::castable:
        return draw_castable();
      case Distribution::integers:
        return draw_exact_integers();
      case Distribution::factors:
        return draw(Factors<T>{terms_of_each_factor(), start_});
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
      case Distribution::indices:
        return draw(SmallIntegers<T>{{0, static_cast<double>(indexed_rows() - 1)}});
      case Distribution::border_indices:
        return draw_border_indices();
      case Distribution::alternating:
        return draw(Alternating<T>{range_, data_.turn});
      case Distribution::pairs:
        return draw_pairs();
      case Distribution::at_borders:
        return draw_at_borders();
      case Distribution::identity:
        return set_identity();
      case Distribution::needle:
        return draw(Needle<T>{range_, needle_as<T>(data_.needle), data_.turn});
      case Distribution::rank_needle:
        return draw_rank_needle();
      case Distribution::constant:
        return set_constant();
      case Distribution::masks:
        if constexpr (std::is_same_v<T, std::uint8_t>) draw(Masks<T>{data_.turn});
        return;
      case Distribution::border_needles:
      case Distribution::halves:
      case Distribution::around:
      case Distribution::far_rows:
      case Distribution::blocks:
        if constexpr (!std::is_integral_v<T>) draw_floats();
        return;
      case Distribution::unique_words:
      case Distribution::given:
        return;  // not by elements
    }
  }

 private:
  template <class Draw>
  void draw(const Draw& draw) {
    input::fill(elements_, key_.seed, key_.id, draw);
  }
  void draw_pairs() {
    draw(Pairs<T>{range_, data_.needle, data_.turn, std::max<std::int64_t>(1, columns())});
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
  std::int64_t columns() const { return spec_.shape.back(); }
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
                     is_weight ? 0.5 : 0.9});
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
      draw(FarRows<T>{range_, data_.points, most, std::max<std::int64_t>(1, columns())});
    } else if (data_.distribution == Distribution::border_needles) {
      draw_border_needles();
    } else {
      draw(Blocks<T>{});
    }
  }

  void draw_border_indices() {
    draw(SmallIntegers<T>{{0, static_cast<double>(indexed_rows() - 1)}});
    std::vector<std::int64_t> first = borders(indexed_rows());
    if (data_.turn == 0) std::ranges::reverse(first);  // a few reach the last rows
    for (std::size_t i = 0; i < std::min(first.size(), elements_.size()); ++i) {
      elements_[i] = round_to<T>(static_cast<double>(first[i]));
    }
  }

  void draw_at_borders() {
    std::ranges::fill(elements_, T{});
    const std::vector<std::int64_t> indices = borders(std::ssize(elements_));
    for (auto i = static_cast<std::size_t>(data_.turn); i < indices.size(); i += 2) {
      elements_[static_cast<std::size_t>(indices[i])] =
          Uniform<T>{range_}(random_bits(key_.seed, key_.id, i));
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
