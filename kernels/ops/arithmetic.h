#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace assay {

/// Arithmetic that a user's op allows its kernels; kernels/providers/python/assay/_formats.py says
/// what each is.
enum class Arithmetic : std::uint8_t {
  f32,
  tf32,      // factors of products in the 11 bits that tensor cores take
  operands,  // factors of products in the dtype of the tensors
  eager,     // the result of every step in it
};
inline constexpr std::array arithmetics{Arithmetic::f32, Arithmetic::tf32, Arithmetic::operands,
                                        Arithmetic::eager};

std::string_view name(Arithmetic arithmetic);

/// The arithmetic to try once outputs are wrong in `now`; empty where that is all that is allowed.
std::optional<Arithmetic> wider_than(Arithmetic now, Arithmetic allowed);

/// How a user's reference is measured: by so many runs in noisy arithmetic.
struct Effort {
  int draws = 8;
  Arithmetic arithmetic = Arithmetic::f32;
};

}  // namespace assay
