#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/core/significand.h"
#include "kernels/sim/data_faults.h"

// Right results with some elements spoiled afterwards.
namespace assay::sim {
namespace {

/// Number of significand bits stored, without the leading one.
template <class T>
constexpr int stored_bits() {
  return significand_bits<T>() - 1;
}

template <class T>
void flip(T& element, int bit) {
  auto* bytes = reinterpret_cast<unsigned char*>(&element);
  bytes[bit / 8] = static_cast<unsigned char>(bytes[bit / 8] ^ (1U << (bit % 8)));
}

/// Runs the right kernel and passes its output to f, if there is any.
template <class F>
void spoil(Launch& launch, const F& f) {
  launch.right();
  visit_dtype(output_dtype(launch.op()), [&]<class T>(std::type_identity<T>) {
    const std::span<T> y = launch.output<T>();
    if (!y.empty()) f(y);
  });
}

/// Spoils the output of ops that give floats.
template <class F>
void spoil_floats(Launch& launch, const F& f) {
  spoil(launch, [&]<class T>(std::span<T> y) {
    if constexpr (is_float<T>) f(y);
  });
}

void low_bit(Launch& launch) {
  spoil(launch, [](auto y) { flip(y[y.size() / 2], 0); });
}

void sign_bit(Launch& launch) {
  spoil(launch, []<class T>(std::span<T> y) {
    flip(y[y.size() / 2], static_cast<int>(8 * sizeof(T)) - 1);
  });
}

void exponent_bit(Launch& launch) {
  spoil_floats(launch, []<class T>(std::span<T> y) { flip(y[y.size() / 2], stored_bits<T>()); });
}

void strided_bits(Launch& launch) {
  spoil(launch, []<class T>(std::span<T> y) {
    for (std::size_t i = 5; i < y.size(); i += 32) flip(y[i], std::max(0, stored_bits<T>() - 3));
  });
}

/// Changes every element by a few units in the last place.
void drift(Launch& launch) {
  spoil_floats(launch, []<class T>(std::span<T> y) {
    const double factor = 1 + std::ldexp(12.0, -stored_bits<T>());
    for (T& element : y) {
      if constexpr (is_narrow_float<T>) {
        element = T(static_cast<float>(widen(element) * factor));
      } else {
        element = static_cast<T>(widen(element) * factor);
      }
    }
  });
}

void set_nan(Launch& launch) {
  spoil_floats(launch, []<class T>(std::span<T> y) {
    y[y.size() / 2] = T(std::numeric_limits<float>::quiet_NaN());
  });
}

void nan_for_infinity(Launch& launch) {
  spoil_floats(launch, []<class T>(std::span<T> y) {
    for (T& element : y) {
      if (std::isinf(widen(element))) element = T(std::numeric_limits<float>::quiet_NaN());
    }
  });
}

void subnormals_flushed(Launch& launch) {
  const double smallest = std::ldexp(1.0, smallest_exponent(output_dtype(launch.op())));
  spoil_floats(launch, [smallest]<class T>(std::span<T> y) {
    for (T& element : y) {
      if (std::abs(widen(element)) < smallest) element = T{};
    }
  });
}

constexpr DataFault faults[] = {
    {"low_bit", "one low bit of one element", low_bit},
    {"sign_bit", "the sign of one element", sign_bit},
    {"exponent_bit", "the lowest exponent bit of one element", exponent_bit},
    {"strided_bits", "one bit of every 32nd element", strided_bits},
    {"drift", "12 units in the last place in all elements", drift},
    {"nan_element", "NaN in one element", set_nan},
    {"nan_for_infinity", "NaN where the result is infinite", nan_for_infinity},
    {"subnormals_flushed", "subnormal results are zero", subnormals_flushed},
};

}  // namespace

std::span<const DataFault> element_faults() { return faults; }

}  // namespace assay::sim
