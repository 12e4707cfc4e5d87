#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/core/parallel.h"
#include "kernels/core/tensor_spec.h"

namespace assay {

/// The first `count` lines of a matrix (TensorSpec::axis), one after the other: its elements
/// themselves where they lie so, else a copy in `storage`.
template <class T>
std::span<const T> first_lines(std::span<const T> elements, const TensorSpec& spec,
                               std::int64_t count, std::vector<T>& storage) {
  const std::int64_t length = spec.line_elements();
  const std::int64_t step = spec.line_step();
  const auto taken = static_cast<std::size_t>(count * length);
  if (step == 1) return elements.first(taken);
  storage.resize(taken);
  constexpr std::int64_t at_once = 16;  // they share cache lines
  parallel_runs(count, at_once, count * length, [&](std::int64_t first, std::int64_t some) {
    for (std::int64_t place = 0; place < length; ++place) {
      for (std::int64_t line = first; line < first + some; ++line) {
        storage[static_cast<std::size_t>(line * length + place)] =
            elements[static_cast<std::size_t>(place * step + line)];
      }
    }
  });
  return storage;
}

}  // namespace assay
