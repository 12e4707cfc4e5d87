#include "harness/input/generate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "harness/input/drawn_scale.h"
#include "harness/input/fill.h"
#include "harness/input/filler.h"
#include "harness/input/given_data.h"
#include "harness/input/panel.h"
#include "harness/input/repeated.h"
#include "harness/input/special_values.h"
#include "kernels/core/parallel.h"
#include "kernels/core/philox.h"
#include "kernels/ops/block_input.h"

namespace assay::input {
namespace {

/// Scales each run of `length` elements by a power of two of its own.
template <class T>
void scale_runs(std::span<T> elements, std::int64_t length, const TensorKey& key) {
  const std::int64_t all = std::ssize(elements);
  parallel_runs(all / length, 1, all, [&](std::int64_t run, std::int64_t) {
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

/// Gives every second run of elements a fate of its own (kernels/ops/rules.h, Specials). A run that
/// is the whole tensor gets the fate whose turn it is: seeds, dtypes and lengths take turns.
template <class T>
void sprinkle(std::span<T> elements, std::int64_t run_length, const Data& data,
              const OpInstance& op, DType dtype, std::uint64_t seed, std::uint64_t stream) {
  const auto input = static_cast<std::size_t>(stream & 0xffffU);
  const auto block = block_input(op, input);
  if (is_float<T> || block) {
    const bool alone = run_length >= std::ssize(elements);
    const std::uint64_t turn = static_cast<std::uint64_t>(data.turn) + seed + stream % 16 +
                               static_cast<std::uint64_t>(dtype) +
                               static_cast<std::uint64_t>(std::bit_width(elements.size()));
    const std::uint64_t rank = stream >> 16U & 0xffffU;
    const std::uint64_t first = rank + static_cast<std::uint64_t>(data.turn);
    const bool is_factor = dtype == op.dtype();
    const int unused = is_factor ? precision_bits(dtype) - precision_bits(op.format) : 0;
    for (std::int64_t begin = 0; begin < std::ssize(elements); begin += run_length) {
      const auto run = elements.subspan(
          static_cast<std::size_t>(begin),
          static_cast<std::size_t>(std::min(run_length, std::ssize(elements) - begin)));
      const std::uint64_t choice = mix(seed ^ mix(stream ^ mix(static_cast<std::uint64_t>(begin))));
      const auto index = static_cast<std::uint64_t>(begin / run_length);
      const Fate fate =
          alone ? special_fate(data.specials, turn) : fate_among_many(data.specials, index, first);
      if constexpr (is_float<T>) {
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
  parallel_runs(periods - 1, 1, std::ssize(bytes), [&](std::int64_t first, std::int64_t) {
    const std::size_t at = static_cast<std::size_t>(first + 1) * period_bytes;
    const std::size_t count = std::min(period_bytes, bytes.size() - at);
    std::copy_n(bytes.begin(), count, bytes.begin() + static_cast<std::ptrdiff_t>(at));
  });
}

/// Lays lines that follow each other side by side, as the tensor has them. In blocks of rows, as a
/// row alone would take one element from each of many cache lines.
template <class T>
void lay_lines(std::span<T> elements, const TensorSpec& spec) {
  const std::int64_t length = spec.line_elements();
  const std::int64_t step = spec.line_step();
  const std::vector<T> lines(elements.begin(), elements.end());
  constexpr std::int64_t block = 16;
  const std::int64_t blocks = (length + block - 1) / block;
  const std::int64_t outer = std::ssize(elements) / std::max<std::int64_t>(1, length * step);
  parallel_runs(outer * blocks, 1, std::ssize(elements), [&](std::int64_t run, std::int64_t) {
    const std::int64_t begin = run / blocks * length * step;
    const std::int64_t first = run % blocks * block;
    const std::int64_t end = std::min(first + block, length);
    const T* const from = &lines[static_cast<std::size_t>(begin)];
    T* const to = &elements[static_cast<std::size_t>(begin)];
    for (std::int64_t line = 0; line < step; ++line) {
      for (std::int64_t row = first; row < end; ++row) {
        to[row * step + line] = from[line * length + row];
      }
    }
  });
}

void fill_tensor(const OpInstance& op, const Pass& pass, const TensorKey& key, HostTensor& tensor) {
  const Data& data = pass.data_of(static_cast<std::size_t>(key.input));
  const int input = data.like_first ? 0 : key.input;
  const std::uint64_t stream = (static_cast<std::uint64_t>(key.pass) << 48) |
                               (static_cast<std::uint64_t>(key.rank) << 16) |
                               static_cast<std::uint64_t>(input);
  if (data.distribution == Distribution::unique_words) {
    fill_unique_words(tensor.bytes(), random_bits(key.seed, stream, 0));
    return;
  }
  if (data.distribution == Distribution::given) return fill_given(op, key, tensor);
  const TensorSpec& spec = tensor.spec();
  const std::int64_t rows = key.may_repeat ? rows_before_repeat(op, key.pass, key.input) : 0;
  const std::int64_t all_rows = rows > 0 ? repeatable_rows(spec) : 0;
  const bool repeats = rows < all_rows;
  visit_dtype(spec.dtype, [&]<class T>(std::type_identity<T>) {
    const auto whole = tensor.as<T>();
    auto elements = whole;
    if (repeats) {
      elements = elements.first(elements.size() / static_cast<std::size_t>(all_rows) *
                                static_cast<std::size_t>(rows));
    }
    Filler<T>(data, op, key.input, {key.seed, stream, drawn_exponent(op, key), key.rank}, elements)
        .fill();
    if constexpr (is_float<T>) {
      const std::int64_t run = own_scale_elements(op, pass, key.input);
      if (run > 0) scale_runs(elements, run, key);
    }
    if (data.specials != Specials::none && !elements.empty()) {
      std::int64_t run = data.run > 0 ? data.run : spec.line_elements();
      if (data.runs > 0) run = (std::ssize(elements) + data.runs - 1) / data.runs;
      sprinkle(elements, run, data, op, spec.dtype, key.seed, stream);
    }
    if (repeats) repeat_rows(tensor.bytes(), elements.size_bytes());
    if (spec.line_step() > 1) lay_lines(whole, spec);
  });
}

}  // namespace

void generate(const OpInstance& op, const Pass& pass, const TensorKey& key, HostTensor& tensor) {
  fill_tensor(op, pass, key, tensor);
  repeat_elements(tensor.spec(), tensor.bytes());
}

}  // namespace assay::input
