#include <cmath>
#include <cstring>
#include <type_traits>

#include "kernels/reference/families.h"

namespace assay::reference {
namespace {

/// Writes f(x...) for elements [first, ...) of the inputs, each rounded once by IEEE arithmetic in
/// T.
template <class T, class F, class... Inputs>
void write_bits(std::int64_t first, std::span<std::byte> out, F f, Inputs... inputs) {
  const std::size_t count = out.size() / sizeof(T);
  for (std::size_t i = 0; i < count; ++i) {
    const T y = f(inputs[static_cast<std::size_t>(first) + i]...);
    std::memcpy(out.data() + i * sizeof(T), &y, sizeof(T));
  }
}

// Integers wrap modulo 2^bits: in C++ that is unsigned arithmetic.
template <class T>
T wrapping(T a, T b, auto f) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(f(static_cast<U>(a), static_cast<U>(b)));
  } else {
    return f(a, b);
  }
}

template <class T>
void add_bits(const Problem& p, std::span<const double>, std::int64_t first,
              std::span<std::byte> out) {
  const auto plus = [](T a, T b) { return wrapping(a, b, [](auto x, auto y) { return x + y; }); };
  write_bits<T>(first, out, plus, p.input<T>(0), p.input<T>(1));
}

template <class T>
void square_bits(const Problem& p, std::span<const double>, std::int64_t first,
                 std::span<std::byte> out) {
  const auto squared = [](T a) { return wrapping(a, a, [](auto x, auto y) { return x * y; }); };
  write_bits<T>(first, out, squared, p.input<T>(0));
}

/// In long double, whose 64 bits leave an error of 2^-11 ulp for f64.
template <class T>
void exp_values(const Problem& p, std::span<const double>, std::int64_t first, Values out) {
  const auto x = p.input<T>(0).subspan(static_cast<std::size_t>(first));
  for (std::size_t i = 0; i < out.value.size(); ++i) {
    const long double y = std::exp(static_cast<long double>(x[i]));
    out.value[i] = static_cast<double>(y);
    out.rest[i] = static_cast<double>(y - out.value[i]);
    out.scale[i] = std::abs(static_cast<double>(x[i]));
  }
}

}  // namespace

Reference add(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return {.bits = add_bits<double>};
    case DType::f32:
      return {.bits = add_bits<float>};
    default:
      return {.bits = add_bits<std::int64_t>};
  }
}

Reference square(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return {.bits = square_bits<double>};
    case DType::f32:
      return {.bits = square_bits<float>};
    default:
      return {.bits = square_bits<std::int64_t>};
  }
}

Reference exponential(DType dtype) {
  return {.values = dtype == DType::f64 ? exp_values<double> : exp_values<float>};
}

}  // namespace assay::reference
