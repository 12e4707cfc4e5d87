#pragma once

#include <cmath>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "kernels/reference/reference.h"
#include "kernels/reference/rounding.h"

// Elementwise references: one expression for each op, evaluated for elements [first, ...).
namespace assay::reference {

template <class Y>
void store(std::span<std::byte> out, std::size_t i, const Y& y) {
  std::memcpy(out.data() + i * sizeof(Y), &y, sizeof(Y));
}

/// Type in which IEEE operations are evaluated before their one rounding to T. 16-bit floats use
/// double, where two roundings equal one: 53 >= 2 p + 2 (Figueroa: "When is double rounding
/// innocuous?", ACM SIGNUM Newsletter 30(3), 1995). Integers wrap as unsigned ones.
template <class T>
auto operand(T x) {
  if constexpr (is_narrow_float<T>) {
    return wide(x);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<std::make_unsigned_t<T>>(x);
  } else {
    return x;
  }
}

template <class T, class F, std::size_t... I>
void write_bits(const Problem& p, std::int64_t first, std::span<std::byte> out,
                std::index_sequence<I...> /*inputs*/) {
  const auto inputs = std::make_tuple(p.input<T>(I).subspan(static_cast<std::size_t>(first))...);
  for (std::size_t i = 0; i < out.size() / sizeof(T); ++i) {
    const auto y = F{}(operand(std::get<I>(inputs)[i])...);
    if constexpr (is_narrow_float<T>) {
      store(out, i, rounded<T>(y));
    } else {
      store(out, i, static_cast<T>(y));
    }
  }
}

/// Makes the reference of an op whose result F gives exactly, up to one rounding.
template <class F, int Inputs>
Reference exactly(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.bits = [](const Problem& p, std::span<const double>, std::int64_t first,
                                std::span<std::byte> out) {
      write_bits<T, F>(p, first, out, std::make_index_sequence<Inputs>{});
    }};
  });
}

/// Type in which a function of T is evaluated. f64: long double, whose 64 bits leave an error of
/// 2^-11 ulp. f32 and what is computed in it: double, which leaves 2^-28.
template <class T>
using Wider = std::conditional_t<std::is_same_v<T, double>, long double, double>;

/// Makes the reference of a function that F evaluates. The scale is |x|, x the last argument.
template <class F, int Inputs>
Reference approximately(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{
        .values = [](const Problem& p, std::span<const double>, std::int64_t first, Values out) {
          for (std::size_t i = 0; i < out.value.size(); ++i) {
            const std::size_t at = static_cast<std::size_t>(first) + i;
            const auto argument = [&](std::size_t input) {
              return static_cast<Wider<T>>(wide(p.input<T>(input)[at]));
            };
            Wider<T> y = 0;
            if constexpr (Inputs == 1) {
              y = F{}(argument(0));
            } else {
              y = F{}(argument(0), argument(1));
            }
            out.value[i] = static_cast<double>(y);
            out.rest[i] = static_cast<double>(y - out.value[i]);
            out.scale[i] = static_cast<double>(std::abs(argument(Inputs - 1)));
          }
        }};
  });
}

}  // namespace assay::reference
