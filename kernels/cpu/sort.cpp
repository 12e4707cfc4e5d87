#include <bit>
#include <limits>
#include <parallel/algorithm>
#include <type_traits>

#include "kernels/cpu/map.h"

namespace assay::cpu {
namespace {

template <std::size_t Bytes>
using Word = std::conditional_t<
    Bytes == 8, std::uint64_t,
    std::conditional_t<Bytes == 4, std::uint32_t,
                       std::conditional_t<Bytes == 2, std::uint16_t, std::uint8_t>>>;

/// Maps the bits of a T to an unsigned integer of the same order. Negative floats are reversed.
/// NaN, which compares with nothing, is the greatest.
template <class T>
Word<sizeof(T)> key_of(Word<sizeof(T)> bits) {
  using W = Word<sizeof(T)>;
  if constexpr (!std::is_integral_v<T>) {
    const auto x = std::bit_cast<T>(bits);
    if (widened(x) != widened(x)) return std::numeric_limits<W>::max();
  }
  constexpr auto sign = static_cast<W>(W{1} << (8 * sizeof(T) - 1));
  if constexpr (std::is_unsigned_v<T>) {
    return bits;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<W>(bits ^ sign);
  } else {
    return static_cast<W>((bits & sign) != 0 ? ~bits : bits ^ sign);
  }
}

template <class T>
Word<sizeof(T)> bits_of_key(Word<sizeof(T)> key) {
  using W = Word<sizeof(T)>;
  constexpr auto sign = static_cast<W>(W{1} << (8 * sizeof(T) - 1));
  if constexpr (std::is_unsigned_v<T> || std::is_integral_v<T>) {
    return key_of<T>(key);
  } else {
    return static_cast<W>((key & sign) != 0 ? key ^ sign : ~key);
  }
}

std::unique_ptr<Kernel> sort(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
    using W = Word<sizeof(T)>;
    const auto* x = static_cast<const W*>(binding.inputs[0]);
    auto* y = static_cast<W*>(binding.outputs[0]);
    const TensorSpec spec = op.signature.outputs[0];
    return std::make_unique<FunctionKernel>("libstdc++ parallel sort", [=] {
      map_rows<W>(
          spec, [](W bits) { return key_of<T>(bits); }, y, x);
      __gnu_parallel::sort(y, y + spec.elements());
      map_rows<W>(
          spec, [](W key) { return bits_of_key<T>(key); }, y, static_cast<const W*>(y));
    });
  });
}

constexpr KernelRow rows[] = {
    {"sort", sort},
};

}  // namespace

std::span<const KernelRow> sort_kernels() { return rows; }

}  // namespace assay::cpu
