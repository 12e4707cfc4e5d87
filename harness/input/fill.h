#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "harness/input/distributions.h"
#include "kernels/core/parallel.h"
#include "kernels/core/philox.h"
#include "kernels/core/vector_clones.h"

// Draws the elements of a tensor in parallel, each from its own bits of the generator.
namespace assay::input {

inline constexpr std::int64_t run_elements = 1 << 14;

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

ASSAY_VECTOR_CLONES inline void mix_all(std::span<std::uint64_t> words) {
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

}  // namespace assay::input
