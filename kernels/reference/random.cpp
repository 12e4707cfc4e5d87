#include <array>
#include <cmath>
#include <type_traits>

#include "kernels/reference/elementwise.h"
#include "kernels/reference/families.h"

namespace assay::reference {
namespace {

using Words = std::array<std::uint32_t, 4>;

/// One round of Philox 4x32. Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2,
/// 3", SC 2011, figure 2.
Words round(const Words& c, std::uint32_t key0, std::uint32_t key1) {
  const std::uint64_t a = std::uint64_t{0xD2511F53U} * c[0];
  const std::uint64_t b = std::uint64_t{0xCD9E8D57U} * c[2];
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32U); };
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  return {high(b) ^ c[1] ^ key0, low(b), high(a) ^ c[3] ^ key1, low(a)};
}

/// 64 bits of element i: half of block i / 2, stream 0.
std::uint64_t bits_of_element(std::uint64_t seed, std::uint64_t i) {
  const std::uint64_t block = i / 2;
  Words words{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32U), 0, 0};
  for (std::uint32_t r = 0; r < 10; ++r) {
    words = round(words, static_cast<std::uint32_t>(seed) + r * 0x9E3779B9U,
                  static_cast<std::uint32_t>(seed >> 32U) + r * 0xBB67AE85U);
  }
  const std::size_t half = i % 2 * 2;
  return words.at(half) + (static_cast<std::uint64_t>(words.at(half + 1)) << 32U);
}

/// Floats: the fraction of [0, 1) that the topmost bits of a significand give.
template <class T>
T element(std::uint64_t bits, int significand) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(bits);
  } else {
    const double whole = std::floor(std::ldexp(static_cast<long double>(bits), significand - 64));
    return rounded<T>(std::ldexp(whole, -significand));
  }
}

Reference random(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) {
    return Reference{.bits = [](const Problem& p, std::span<const double>, std::int64_t first,
                                std::span<std::byte> out) {
      const auto seed = static_cast<std::uint64_t>(p.op.params.integer("seed"));
      for (std::size_t i = 0; i < out.size() / sizeof(T); ++i) {
        const std::uint64_t bits = bits_of_element(seed, static_cast<std::uint64_t>(first) + i);
        store(out, i, element<T>(bits, precision_bits(p.op.format)));
      }
    }};
  });
}

constexpr ReferenceRow rows[] = {
    {"random", random},
};

}  // namespace

std::span<const ReferenceRow> random_references() { return rows; }

}  // namespace assay::reference
