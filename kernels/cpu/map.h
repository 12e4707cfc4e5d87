#pragma once

#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <type_traits>

#include "kernels/core/element_functions.h"
#include "kernels/cpu/caches.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/streaming.h"
#include "kernels/cpu/strided.h"
#include "kernels/cpu/vectorize.h"

// Elementwise ops: y[i] = f(x[i], ...) for contiguous tensors, or rows with gaps.
namespace assay::cpu {

/// Type in which an element is computed: f32 for 16-bit floats, else its own.
template <class T>
using Computed = std::conditional_t<is_narrow_float<T>, float, T>;

template <class T>
Computed<T> widened(T x) {
  return static_cast<Computed<T>>(x);
}

template <class T, class... Rest>
inline constexpr bool are_bf16 = std::is_same_v<T, BFloat16> &&
                                 (std::is_same_v<Rest, BFloat16> && ...);

/// True if results of F need no rounding to bf16: F says that it rounds nothing, and all are bf16.
template <class Y, class F, class... X>
inline constexpr bool is_never_rounded = false;
template <class Y, class F, class... X>
requires(!F::rounds) inline constexpr bool is_never_rounded<Y, F, X...> = are_bf16<Y, X...>;

/// Converts the result of F on elements of X to Y.
template <class Y, class F, class... X, class R>
Y stored(R result) {
  if constexpr (is_never_rounded<Y, F, X...>) {
    Y y;
    y.bits = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(result) >> 16U);
    return y;
  } else {
    return static_cast<Y>(result);
  }
}

/// Two neighbours as one word.
inline std::uint32_t pair_at(const BFloat16* x) {
  std::uint32_t pair;
  std::memcpy(&pair, x, sizeof pair);
  return pair;
}

/// Takes pairs of bf16 apart in words, and puts them together there: vectors of halves would have
/// to be unpacked and packed, which takes most of the time of short functions.
template <class F, class... X>
__attribute__((always_inline)) inline void map_pairs(F f, BFloat16* y, std::int64_t n,
                                                     const X*... x) {
  ASSAY_INDEPENDENT_LOOP
  for (std::int64_t i = 0; i < n / 2; ++i) {
    const BFloat16 low =
        stored<BFloat16, F, X...>(f(std::bit_cast<float>(pair_at(x + 2 * i) << 16U)...));
    const BFloat16 high =
        stored<BFloat16, F, X...>(f(std::bit_cast<float>(pair_at(x + 2 * i) & 0xffff0000U)...));
    const std::uint32_t pair = low.bits | (static_cast<std::uint32_t>(high.bits) << 16U);
    std::memcpy(static_cast<void*>(y + 2 * i), &pair, sizeof pair);
  }
  if (n % 2 != 0) y[n - 1] = stored<BFloat16, F, X...>(f(widened(x[n - 1])...));
}

template <class Y, class F, class... X>
ASSAY_VECTOR_CLONES void map_row(F f, Y* y, std::int64_t n, const X*... x) {
  if constexpr (are_bf16<Y, X...>) {
    map_pairs(f, y, n, x...);
  } else if constexpr (std::is_class_v<Y>) {
    // GCC 12 gives a struct within `omp simd` memory for each lane, and stays scalar.
    ASSAY_INDEPENDENT_LOOP
    for (std::int64_t i = 0; i < n; ++i) y[i] = stored<Y, F, X...>(f(widened(x[i])...));
  } else {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<Y>(f(widened(x[i])...));
  }
}

/// Maps a row with stores past the caches, for outputs too large for them. end_streaming() follows
/// the last one.
template <class Y, class F, class... X>
void stream_row(F f, Y* y, std::int64_t n, const X*... x) {
  if constexpr (std::is_same_v<F, Identity> && (std::is_same_v<X, Y> && ...)) {
    (stream_out(y, x, static_cast<std::size_t>(n) * sizeof(Y)), ...);
    return;
  }
  constexpr std::int64_t staged = staged_bytes / static_cast<std::int64_t>(sizeof(Y));
  alignas(64) std::array<std::byte, staged_bytes> stage;
  auto* results = reinterpret_cast<Y*>(stage.data());
  for (std::int64_t i = 0; i < n; i += staged) {
    const std::int64_t some = std::min(staged, n - i);
    map_row<Y>(f, results, some, (x + i)...);
    stream_out(y + i, results, static_cast<std::size_t>(some) * sizeof(Y));
  }
}

/// Runs f over the rows of the op's output.
template <class Y, class F, class... X>
void map_rows(const TensorSpec& spec, F f, Y* y, const X*... x) {
  constexpr std::int64_t bytes = sizeof(Y) + (sizeof(X) + ... + 0);
  if (spec.is_dense()) {
    const bool is_in_place = ((static_cast<const void*>(x) == y) || ...);
    if (!is_in_place && exceeds_caches(spec.elements() * bytes)) {
      parallel_blocks(spec.elements(), bytes,
                      [=](std::int64_t, std::int64_t first, std::int64_t count) {
                        stream_row<Y>(f, y + first, count, (x + first)...);
                        end_streaming();
                      });
      return;
    }
    parallel_blocks(spec.elements(), bytes,
                    [=](std::int64_t, std::int64_t first, std::int64_t count) {
                      map_row<Y>(f, y + first, count, (x + first)...);
                    });
    return;
  }
  const std::int64_t cols = spec.row_elements();
  const std::int64_t step = spec.row_stride();
  parallel_blocks(spec.elements() / cols, cols * bytes,
                  [=](std::int64_t, std::int64_t first, std::int64_t count) {
                    for (std::int64_t row = first; row < first + count; ++row) {
                      map_row<Y>(f, y + row * step, cols, (x + row * step)...);
                    }
                  });
}

/// Names the implementation of F. Default: our own loop. f64 may have a different one.
template <class F, class T>
constexpr const char* implementation_of() {
  if constexpr (std::is_same_v<T, double> && requires { F::implementation_f64; }) {
    return F::implementation_f64;
  } else if constexpr (requires { F::implementation; }) {
    return F::implementation;
  } else {
    return loop_text;
  }
}

/// Makes elementwise kernels: see Mapped in kernels/device/element_rows.h.
struct Mapper {
  template <class T>
  using Stored = T;

  static std::unique_ptr<Kernel> strided_copy(const OpInstance& op, const Binding& binding) {
    return cpu::strided_copy(op, binding);
  }

  template <class T>
  static const T* input(const Binding& binding, std::size_t i) {
    return static_cast<const T*>(binding.inputs[i]);
  }

  template <class Y, class F, class... X>
  static std::unique_ptr<Kernel> kernel_of(F f, const OpInstance& op, const Binding& binding,
                                           const X*... x) {
    return std::make_unique<FunctionKernel>(
        implementation_of<F, Y>(),
        [=, spec = op.signature.outputs[0], y = static_cast<Y*>(binding.outputs[0])] {
          map_rows<Y>(spec, f, y, x...);
        });
  }
};

}  // namespace assay::cpu
