#include "harness/input/generate.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "harness/input/block_data.h"
#include "harness/input/castable.h"
#include "harness/input/distributions.h"
#include "harness/input/drawn_scale.h"
#include "harness/input/exact_data.h"
#include "harness/input/panel.h"
#include "harness/input/special_values.h"
#include "kernels/core/parallel.h"
#include "kernels/core/philox.h"
#include "kernels/core/vector_clones.h"
#include "kernels/ops/block_input.h"
#include "kernels/ops/borders.h"

namespace assay::input {
namespace {

constexpr std::int64_t run_elements = 1 << 14;

Range range_of(const Data& data, DType dtype) {
  return dtype == DType::f64 && data.range_f64 ? *data.range_f64 : data.range;
}

/// Calls `draw`, with the index of the element where its rule needs it.
template <class Draw>
auto draw_at(const Draw& draw, std::uint64_t bits, std::int64_t i) {
  if constexpr (requires { draw(bits, i); }) {
    return draw(bits, i);
  } else {
    return draw(bits);
  }
}

template <class T, class Draw>
ASSAY_VECTOR_CLONES void draw_all(const Draw& draw, const std::uint64_t* words, std::int64_t first,
                                  T* elements, std::int64_t n) {
  const Draw own = draw;  // which the elements are surely no part of
  for (std::int64_t i = 0; i < n; ++i) elements[i] = draw_at(own, words[i], first + i);
}

ASSAY_VECTOR_CLONES void mix_all(std::span<std::uint64_t> words) {
  for (std::uint64_t& word : words) word = mix(word);
}

template <class T, class Draw>
void fill(std::span<T> elements, std::uint64_t seed, std::uint64_t stream, const Draw& draw) {
  parallel_runs(std::ssize(elements), run_elements, [&](std::int64_t first, std::int64_t count) {
    // Runs begin at even elements; one block of the generator serves two.
    constexpr std::int64_t at_once = 512;
    std::array<std::uint64_t, at_once> words;
    for (std::int64_t begin = first; begin < first + count; begin += at_once) {
      const std::int64_t n = std::min(at_once, first + count - begin);
      const auto needed = std::span(words).first(static_cast<std::size_t>(n));
      random_words(seed, stream, static_cast<std::uint64_t>(begin / 2), needed);
      T* const to = &elements[static_cast<std::size_t>(begin)];
      draw_all(draw, words.data(), begin, to, n);
      if constexpr (requires { requires Draw::has_special; }) {
        mix_all(needed);
        for (std::int64_t i = 0; i < n; ++i) {
          const std::uint64_t choice = needed[static_cast<std::size_t>(i)];
          if (Draw::is_special(choice)) to[i] = Draw::special(choice);
        }
      }
    }
  });
}

/// Zeroes all but one random element in each run of `stride` elements within a row.
template <class T>
void thin_out(std::span<T> elements, std::int64_t row, std::int64_t stride, std::uint64_t seed,
              std::uint64_t stream) {
  const std::int64_t runs_per_row = (row + stride - 1) / stride;
  const std::int64_t runs = std::ssize(elements) / row * runs_per_row;
  parallel_runs(runs, run_elements, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t run = first; run < first + count; ++run) {
      const std::int64_t at = run % runs_per_row * stride;
      const std::int64_t length = std::min(stride, row - at);
      const std::uint64_t choice = mix(seed ^ mix(stream ^ mix(static_cast<std::uint64_t>(run))));
      const auto kept = static_cast<std::int64_t>(choice % static_cast<std::uint64_t>(length));
      const auto begin = static_cast<std::size_t>(run / runs_per_row * row + at);
      for (std::int64_t i = 0; i < length; ++i) {
        if (i != kept) elements[begin + static_cast<std::size_t>(i)] = T{};
      }
    }
  });
}

/// Scales each run of `length` elements by a power of two of its own.
template <class T>
void scale_runs(std::span<T> elements, std::int64_t length, const TensorKey& key) {
  parallel_runs(std::ssize(elements) / length, 1, [&](std::int64_t run, std::int64_t) {
    const auto factor = static_cast<float>(std::ldexp(1.0, own_exponent(key, run)));
    for (T& element : elements.subspan(static_cast<std::size_t>(run * length),
                                       static_cast<std::size_t>(length))) {
      if constexpr (is_narrow_float<T>) {
        element = T(static_cast<float>(element) * factor);
      } else {
        element = static_cast<T>(element * static_cast<T>(factor));
      }
    }
  });
}

/// Fills the elements or the scales of a block-scaled operand.
void fill_block(const Data& data, const OpInstance& op, const BlockInput& block, std::uint64_t seed,
                std::uint64_t stream, std::span<std::uint8_t> bytes) {
  const BlockFormat& format = *block_format(op.format);
  const auto fill_with = [&](const auto& draw) { fill(bytes, seed, stream, draw); };
  const bool is_exact = data.distribution == Distribution::integers;
  if (!block.is_scales) {
    is_exact ? fill_with(BlockIntegers{format, exact_integers(op).limit})
             : fill_with(BlockReals{format});
  } else if (is_exact) {
    const auto operand = static_cast<int>(block.operand);
    const int lowest = std::ilogb(exact_integers(op).scale(op, operand));
    fill_with(BlockPowers{format, lowest, ExactIntegers::block_spread});
  } else {
    fill_with(BlockScales{format});
  }
}

/// Gives every second run of elements a fate of its own (kernels/ops/rules.h, Specials). A run that
/// is the whole tensor gets the fate whose turn it is: seeds, dtypes and lengths take turns.
template <class T>
void sprinkle(std::span<T> elements, std::int64_t run_length, Specials specials,
              const OpInstance& op, DType dtype, std::uint64_t seed, std::uint64_t stream) {
  const auto input = static_cast<std::size_t>(stream & 0xffffU);
  const auto block = block_input(op, input);
  if (!std::is_integral_v<T> || block) {
    const bool alone = run_length >= std::ssize(elements);
    const std::uint64_t turn = seed + stream % 16 + static_cast<std::uint64_t>(dtype) +
                               static_cast<std::uint64_t>(std::bit_width(elements.size()));
    const std::uint64_t rank = stream >> 16U & 0xffffU;
    const bool is_factor = dtype == op.dtype();
    const int unused = is_factor ? precision_bits(dtype) - precision_bits(op.format) : 0;
    for (std::int64_t begin = 0; begin < std::ssize(elements); begin += run_length) {
      const auto run = elements.subspan(
          static_cast<std::size_t>(begin),
          static_cast<std::size_t>(std::min(run_length, std::ssize(elements) - begin)));
      const std::uint64_t choice = mix(seed ^ mix(stream ^ mix(static_cast<std::uint64_t>(begin))));
      const auto index = static_cast<std::uint64_t>(begin / run_length);
      const Fate fate =
          alone ? special_fate(specials, turn) : fate_among_many(specials, index, rank);
      if constexpr (!std::is_integral_v<T>) {
        give_fate(run, fate, choice, unused);
      } else if constexpr (std::is_same_v<T, std::uint8_t>) {
        give_block_fate(run, *block_format(op.format), block->is_scales, fate, choice);
      }
    }
  }
}

/// Word i is a bijection of i, so no two 64-bit words of a tensor are equal and a misplaced block
/// of any size shows.
void fill_unique_words(std::span<std::byte> bytes, std::uint64_t offset) {
  const auto words = static_cast<std::int64_t>((bytes.size() + 7) / 8);
  parallel_runs(words, run_elements, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; ++i) {
      const std::uint64_t word = mix(static_cast<std::uint64_t>(i) + offset);
      const auto at = static_cast<std::size_t>(i) * 8;
      std::memcpy(bytes.data() + at, &word, std::min<std::size_t>(8, bytes.size() - at));
    }
  });
}

/// Repeats the first `period_bytes` over the rest.
void repeat_rows(std::span<std::byte> bytes, std::size_t period_bytes) {
  const auto periods = static_cast<std::int64_t>((bytes.size() + period_bytes - 1) / period_bytes);
  parallel_runs(periods - 1, 1, [&](std::int64_t first, std::int64_t) {
    const std::size_t at = static_cast<std::size_t>(first + 1) * period_bytes;
    const std::size_t count = std::min(period_bytes, bytes.size() - at);
    std::copy_n(bytes.begin(), count, bytes.begin() + static_cast<std::ptrdiff_t>(at));
  });
}

/// Largest number of factors other than +-1 that keeps every partial product finite: half of the
/// exponents.
std::int64_t max_factors(const OpInstance& op) { return largest_exponent(output_dtype(op)) - 1; }

struct Stream {
  std::uint64_t seed;
  std::uint64_t id;
  int exponent;  // of the power of two that scales all
  int rank;
};

template <class T>
void fill_by(const Data& data, const OpInstance& op, int input, const Stream& key,
             std::span<T> elements) {
  const DType dtype = op.signature.inputs[static_cast<std::size_t>(input)].dtype;
  const double scale = data.drawn_scale ? std::ldexp(1.0, key.exponent) : 1.0;
  Range range = range_of(data, dtype);
  range = {range.low * scale, range.high * scale};
  const auto fill_with = [&](const auto& draw) { fill(elements, key.seed, key.id, draw); };
  const auto terms = std::max<std::int64_t>(1, op.signature.terms);
  // Launches differ: what one has left behind must not pass in the next.
  const std::uint64_t start = mix(key.seed ^ key.id);
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    if (const auto block = block_input(op, static_cast<std::size_t>(input))) {
      return fill_block(data, op, *block, key.seed, key.id, elements);
    }
  }
  switch (data.distribution) {
    case Distribution::uniform:
      return fill_with(Uniform<T>{range});
    case Distribution::stratified:
      return fill_with(Stratified<T>(range, start, input == 0));
    case Distribution::few:
      return fill_with(Few<T>{});
    case Distribution::small_integers:
      return fill_with(SmallIntegers<T>{range});
    case Distribution::castable: {
      const double most = dtype == DType::f64 ? std::numeric_limits<double>::max()
                                              : std::numeric_limits<float>::max();
      const Stratified<T> stratified({-most, most}, start);
      return fill_with([&, to = output_dtype(op)](std::uint64_t bits, std::int64_t i) {
        return castable_to(stratified.any(bits, i), bits, to);
      });
    }
    case Distribution::integers: {
      const ExactIntegers exact = exact_integers(op);
      const bool is_weight = is_stacked_weight(op, input);
      fill_with(Integers<T>{exact.limit, std::ldexp(exact.scale(op, input), key.exponent),
                            is_weight ? 0.5 : 0.9});
      const bool is_stack = op.signature.factors_per_term > 2;
      if (exact.stride > 1 && (is_stack ? is_weight : input == 0)) {
        const Shape& shape = op.signature.inputs[static_cast<std::size_t>(input)].shape;
        thin_out(elements, shape.back(), exact.stride, key.seed, key.id);
      }
      return;
    }
    case Distribution::factors: {
      const std::int64_t strata = is_floating(dtype) ? max_factors(op) : 1;
      return fill_with(Factors<T>{(terms + strata - 1) / strata, mix(key.seed ^ key.id)});
    }
    case Distribution::bf16_parts: {
      fill_with(Bf16Parts<T>{});
      const std::int64_t row = op.signature.inputs[static_cast<std::size_t>(input)].shape.back();
      if (input == 0) thin_out(elements, row, row, key.seed, key.id);
      return;
    }
    case Distribution::lone: {
      if constexpr (std::is_same_v<T, double>) {
        // Half of the bits each: the reference of f64 does not round a product of all of them.
        const std::uint64_t kept = op.signature.factors_per_term > 1 ? ~0ULL << 27U : ~0ULL;
        fill_with([kept, draw = Uniform<T>{range}](std::uint64_t bits) {
          return std::bit_cast<double>(std::bit_cast<std::uint64_t>(draw(bits)) & kept);
        });
      } else {
        fill_with(Uniform<T>{range});
      }
      const std::int64_t row = op.signature.inputs[static_cast<std::size_t>(input)].shape.back();
      if (input > 0 || elements.empty()) return;
      return thin_out(elements, row, data.run > 0 ? data.run : row, key.seed, key.id);
    }
    case Distribution::near_one:
      return fill_with(NearOne<T>{std::min(0.5, 1 / std::sqrt(static_cast<double>(terms)))});
    case Distribution::halves:
      if constexpr (!std::is_integral_v<T>) {
        constexpr double most = 65504;
        const Stratified<Float16> each({-most, most}, start);
        fill_with(
            [&](std::uint64_t bits, std::int64_t i) { return round_to<T>(widen(each(bits, i))); });
      }
      return;
    case Distribution::around:
      if constexpr (!std::is_integral_v<T>) fill_with(Around<T>{data.points});
      return;
    case Distribution::far_rows: {
      const Shape& shape = op.signature.inputs[static_cast<std::size_t>(input)].shape;
      if constexpr (!std::is_integral_v<T>) {
        const double most = std::ldexp(1.0, largest_exponent(dtype) - 1);
        fill_with(FarRows<T>{range, data.points, most, std::max<std::int64_t>(1, shape.back())});
      }
      return;
    }
    case Distribution::growing:
      return fill_with(Growing<T>(static_cast<double>(terms)));
    case Distribution::roots:
      return fill_with(Roots<T>{scale});
    case Distribution::blocks:
      if constexpr (!std::is_integral_v<T>) fill_with(Blocks<T>{});
      return;
    case Distribution::indices: {
      const auto rows = static_cast<double>(op.signature.inputs[0].shape.at(0));
      return fill_with(SmallIntegers<T>{{0, rows - 1}});
    }
    case Distribution::border_indices: {
      const std::int64_t rows = op.signature.inputs[0].shape.at(0);
      fill_with(SmallIntegers<T>{{0, static_cast<double>(rows - 1)}});
      std::vector<std::int64_t> first = borders(rows);
      if (data.turn == 0) std::ranges::reverse(first);  // a few reach the last rows
      for (std::size_t i = 0; i < std::min(first.size(), elements.size()); ++i) {
        elements[i] = round_to<T>(static_cast<double>(first[i]));
      }
      return;
    }
    case Distribution::alternating:
      return fill_with(Alternating<T>{range, data.turn});
    case Distribution::pairs: {
      const Shape& shape = op.signature.inputs[static_cast<std::size_t>(input)].shape;
      return fill_with(
          Pairs<T>{range, data.needle, data.turn, std::max<std::int64_t>(1, shape.back())});
    }
    case Distribution::at_borders: {
      std::ranges::fill(elements, T{});
      const std::vector<std::int64_t> places = borders(std::ssize(elements));
      for (auto i = static_cast<std::size_t>(data.turn); i < places.size(); i += 2) {
        elements[static_cast<std::size_t>(places[i])] =
            Uniform<T>{range}(random_bits(key.seed, key.id, i));
      }
      return;
    }
    case Distribution::identity: {
      const std::int64_t columns =
          op.signature.inputs[static_cast<std::size_t>(input)].shape.back();
      std::ranges::fill(elements, T{});
      for (std::int64_t row = 0; row * columns < std::ssize(elements); ++row) {
        // Even columns stay even ones where rows are more.
        const std::int64_t repeated = std::max<std::int64_t>(1, columns - columns % 2);
        const std::int64_t column = row < columns ? row : row % repeated;
        elements[static_cast<std::size_t>(row * columns + column)] = T(1);
      }
      return;
    }
    case Distribution::masks:
      if constexpr (std::is_same_v<T, std::uint8_t>) fill_with(Masks<T>{data.turn});
      return;
    case Distribution::needle:
      return fill_with(Needle<T>{range, needle_as<T>(data.needle), data.turn});
    case Distribution::rank_needle:
      return fill_with(RankNeedle<T>{range, needle_as<T>(data.needle), data.turn + key.rank,
                                     std::int64_t{op.signature.ranks}});
    case Distribution::constant:
      std::ranges::fill(elements, needle_as<T>(data.needle * scale));
      return;
    case Distribution::unique_words:
      return;  // not by elements
  }
}

}  // namespace

void generate(const OpInstance& op, const Pass& pass, const TensorKey& key, HostTensor& tensor) {
  const Data& data = pass.data_of(static_cast<std::size_t>(key.input));
  const int input = data.like_first ? 0 : key.input;
  const std::uint64_t stream = (static_cast<std::uint64_t>(key.pass) << 48) |
                               (static_cast<std::uint64_t>(key.rank) << 16) |
                               static_cast<std::uint64_t>(input);
  if (data.distribution == Distribution::unique_words) {
    fill_unique_words(tensor.bytes(), random_bits(key.seed, stream, 0));
    return;
  }
  const Shape& shape = tensor.spec().shape;
  const std::int64_t rows =
      op.signature.is_product && key.may_repeat ? rows_before_repeat(op, key.pass, key.input) : 0;
  const bool repeats = rows > 0 && rows < shape.at(0);
  visit_dtype(tensor.spec().dtype, [&]<class T>(std::type_identity<T>) {
    auto elements = tensor.as<T>();
    if (repeats) {
      elements = elements.first(elements.size() / static_cast<std::size_t>(shape[0]) *
                                static_cast<std::size_t>(rows));
    }
    fill_by(data, op, key.input, {key.seed, stream, drawn_exponent(op, key), key.rank}, elements);
    if constexpr (!std::is_integral_v<T>) {
      const std::int64_t run = own_scale_elements(op, pass, key.input);
      if (run > 0) scale_runs(elements, run, key);
    }
    if (data.specials != Specials::none && !elements.empty()) {
      std::int64_t run = data.run > 0 ? data.run : shape.empty() ? 1 : shape.back();
      if (data.runs > 0) run = (std::ssize(elements) + data.runs - 1) / data.runs;
      sprinkle(elements, run, data.specials, op, tensor.spec().dtype, key.seed, stream);
    }
    if (repeats) repeat_rows(tensor.bytes(), elements.size_bytes());
  });
}

}  // namespace assay::input
