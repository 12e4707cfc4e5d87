#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/reference/elementwise.h"
#include "kernels/reference/families.h"

// Each in integers of twice the bits, where nothing overflows.
namespace assay::reference {
namespace {

__extension__ using Wide = __int128;

/// 0 where b is 0, which no data have.
Wide floor_of_quotient(Wide a, Wide b) {
  if (b == 0) return 0;
  if (b < 0) return floor_of_quotient(-a, -b);
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

struct FloorDivide {
  Wide operator()(Wide a, Wide b) const { return floor_of_quotient(a, b); }
};
struct Remainder {
  Wide operator()(Wide a, Wide b) const { return a - b * floor_of_quotient(a, b); }
};
Wide power_of_two(Wide exponent) { return Wide{1} << static_cast<int>(exponent); }
struct ShiftLeft {
  Wide operator()(Wide a, Wide b) const { return a * power_of_two(b); }
};
struct ShiftRight {
  Wide operator()(Wide a, Wide b) const { return floor_of_quotient(a, power_of_two(b)); }
};

/// Bit by bit: what becomes of those that one of two numbers has, and both. Four bits are a digit,
/// whose results are a table.
template <bool one, bool both>
struct Bitwise {
  static constexpr int digit_bits = 4;
  static constexpr unsigned digits = 1U << digit_bits;
  static constexpr auto results = [] {
    std::array<std::array<std::uint8_t, digits>, digits> table{};
    for (unsigned a = 0; a < digits; ++a) {
      for (unsigned b = 0; b < digits; ++b) {
        for (int i = 0; i < digit_bits; ++i) {
          const int set = ((a >> i) % 2 != 0) + ((b >> i) % 2 != 0);
          const bool bit = set == 2 ? both : set == 1 && one;
          if (bit) table[a][b] = static_cast<std::uint8_t>(table[a][b] + (1U << i));
        }
      }
    }
    return table;
  }();
  Wide operator()(Wide a, Wide b) const {
    const auto of_a = static_cast<std::uint64_t>(a);
    const auto of_b = static_cast<std::uint64_t>(b);
    std::uint64_t y = 0;
    for (int i = 0; i < std::numeric_limits<std::uint64_t>::digits; i += digit_bits) {
      y += std::uint64_t{results[(of_a >> i) % digits][(of_b >> i) % digits]} << i;
    }
    return static_cast<Wide>(y);
  }
};

struct Not {
  Wide operator()(Wide x) const { return -1 - x; }
};

/// The lowest bits of a number, which are what T keeps.
template <class T>
T lowest_bits(Wide y) {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(y));
}

template <class F, int Inputs>
Reference integer(const OpInstance& op) {
  return visit_computed(op.dtype(), []<class T>(std::type_identity<T>) {
    Reference reference;
    if constexpr (std::is_integral_v<T>) {
      reference.bits = [](const Problem& p, std::span<const double>, std::int64_t first,
                          std::span<std::byte> out) {
        const T* a = p.input<T>(0).data() + first;
        const T* b = p.input<T>(Inputs - 1).data() + first;
        for (std::size_t i = 0; i < out.size() / sizeof(T); ++i) {
          if constexpr (Inputs == 1) {
            store(out, i, lowest_bits<T>(F{}(a[i])));
          } else {
            store(out, i, lowest_bits<T>(F{}(a[i], b[i])));
          }
        }
      };
    }
    return reference;
  });
}

constexpr ReferenceRow rows[] = {
    {"floor_divide", integer<FloorDivide, 2>},     {"remainder", integer<Remainder, 2>},
    {"shift_left", integer<ShiftLeft, 2>},         {"shift_right", integer<ShiftRight, 2>},
    {"bit_and", integer<Bitwise<false, true>, 2>}, {"bit_or", integer<Bitwise<true, true>, 2>},
    {"bit_xor", integer<Bitwise<true, false>, 2>}, {"bit_not", integer<Not, 1>},
};

}  // namespace

std::span<const ReferenceRow> integers_references() { return rows; }

}  // namespace assay::reference
