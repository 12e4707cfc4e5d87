#include "emulator/machine/instructions/reductions.h"

#include <bit>
#include <cstring>

#include "emulator/machine/float_rules.h"
#include "emulator/machine/instructions/half_rules.h"

namespace emulator {
namespace {

template <class T, T (*apply)(T, T)>
void reduce(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += sizeof(T)) {
    auto* place = reinterpret_cast<T*>(to + at);
    T operand;
    std::memcpy(&operand, from + at, sizeof operand);
    T old = __atomic_load_n(place, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(place, &old, apply(old, operand), false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
  }
}

using U32 = std::uint32_t;
using U64 = std::uint64_t;
using S32 = std::int32_t;
using S64 = std::int64_t;
using U16 = std::uint16_t;

template <class T>
T sum(T a, T b) {
  return a + b;
}
template <class T>
T smaller(T a, T b) {
  return b < a ? b : a;
}
template <class T>
T larger(T a, T b) {
  return a < b ? b : a;
}
template <class T>
T common_bits(T a, T b) {
  return a & b;
}
template <class T>
T all_bits(T a, T b) {
  return a | b;
}
template <class T>
T different_bits(T a, T b) {
  return a ^ b;
}
U32 next_or_zero(U32 a, U32 b) { return a >= b ? 0 : a + 1; }
U32 previous_or_bound(U32 a, U32 b) { return a == 0 || a > b ? b : a - 1; }

U32 sum_of_f32(U32 a, U32 b) {
  const float result = flushed(std::bit_cast<float>(a)) + flushed(std::bit_cast<float>(b));
  return std::bit_cast<U32>(flushed(with_canonical_nan(result)));
}
U64 sum_of_f64(U64 a, U64 b) {
  return std::bit_cast<U64>(std::bit_cast<double>(a) + std::bit_cast<double>(b));
}
template <bool brain>
U16 sum_of_halves(U16 a, U16 b) {
  return half_fma<brain>(a, brain ? 0x3f80 : 0x3c00, b);
}

/// As min and max of halves: of a number and a NaN the number, and -0 is less than +0.
template <bool brain, bool is_max>
U16 bound_of_halves(U16 a, U16 b) {
  if (is_half_nan<brain>(a)) return is_half_nan<brain>(b) ? half_nan : b;
  if (is_half_nan<brain>(b)) return a;
  const double x = half_to_double<brain>(a), y = half_to_double<brain>(b);
  const bool a_is_less = x < y || (x == y && (a & 0x8000) != 0);
  return a_is_less == is_max ? b : a;
}

Reduction find_add(TensorElement type) {
  switch (type) {
    case TensorElement::u32:
    case TensorElement::s32:
      return reduce<U32, sum<U32>>;
    case TensorElement::u64:
      return reduce<U64, sum<U64>>;
    case TensorElement::f16:
      return reduce<U16, sum_of_halves<false>>;
    case TensorElement::bf16:
      return reduce<U16, sum_of_halves<true>>;
    case TensorElement::f32:
      return reduce<U32, sum_of_f32>;
    case TensorElement::f64:
      return reduce<U64, sum_of_f64>;
    default:
      return nullptr;
  }
}

template <bool is_max>
Reduction find_bound(TensorElement type) {
  switch (type) {
    case TensorElement::u32:
      return is_max ? reduce<U32, larger<U32>> : reduce<U32, smaller<U32>>;
    case TensorElement::s32:
      return is_max ? reduce<S32, larger<S32>> : reduce<S32, smaller<S32>>;
    case TensorElement::u64:
      return is_max ? reduce<U64, larger<U64>> : reduce<U64, smaller<U64>>;
    case TensorElement::s64:
      return is_max ? reduce<S64, larger<S64>> : reduce<S64, smaller<S64>>;
    case TensorElement::f16:
      return reduce<U16, bound_of_halves<false, is_max>>;
    case TensorElement::bf16:
      return reduce<U16, bound_of_halves<true, is_max>>;
    default:
      return nullptr;
  }
}

template <U32 (*narrow)(U32, U32), U64 (*wide)(U64, U64)>
Reduction find_bits(TensorElement type) {
  if (is_float(type)) return nullptr;
  if (bytes_of(type) == 4) return reduce<U32, narrow>;
  return bytes_of(type) == 8 ? reduce<U64, wide> : nullptr;
}

}  // namespace

Reduction find_reduction(ReduceOp op, TensorElement type) {
  const bool is_u32 = type == TensorElement::u32;
  switch (op) {
    case ReduceOp::add:
      return find_add(type);
    case ReduceOp::min:
      return find_bound<false>(type);
    case ReduceOp::max:
      return find_bound<true>(type);
    case ReduceOp::inc:
      return is_u32 ? reduce<U32, next_or_zero> : nullptr;
    case ReduceOp::dec:
      return is_u32 ? reduce<U32, previous_or_bound> : nullptr;
    case ReduceOp::bit_and:
      return find_bits<common_bits<U32>, common_bits<U64>>(type);
    case ReduceOp::bit_or:
      return find_bits<all_bits<U32>, all_bits<U64>>(type);
    case ReduceOp::bit_xor:
      return find_bits<different_bits<U32>, different_bits<U64>>(type);
    case ReduceOp::none:
      break;
  }
  return nullptr;
}

}  // namespace emulator
