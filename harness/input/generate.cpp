#include "harness/input/generate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "harness/input/exact_data.h"
#include "harness/parallel.h"
#include "kernels/base/philox.h"

namespace assay::input {
namespace {

constexpr std::int64_t run_elements = 1 << 14;

/// Uniform in [0, 1] from 64 bits, rounded once: small values keep all of their significand bits.
double unit_interval(std::uint64_t bits) { return static_cast<double>(bits) * 0x1p-64; }

/// A bijection in which every bit of the result depends on all bits: the finaliser of SplitMix64
/// (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
std::uint64_t mix(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
  return word ^ (word >> 31);
}

/// A value of T that was drawn as a double: rounded once, to nearest.
template <class T>
T round_to(double value) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    return BFloat16(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

Range range_of(const Data& data, DType dtype) {
  return dtype == DType::f64 && data.range_f64 ? *data.range_f64 : data.range;
}

template <class T>
struct Uniform {
  Range range;
  T operator()(std::uint64_t bits) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(bits);  // any integer: sums and products wrap
    } else if (range.low == -range.high) {
      // Sign and magnitude apart: low + width * u would leave all values on the grid of the
      // largest, where additions of doubles never round.
      const double magnitude = range.high * unit_interval(bits & ~std::uint64_t{1});
      return round_to<T>((bits & 1) != 0 ? -magnitude : magnitude);
    } else {
      return round_to<T>(range.low + (range.high - range.low) * unit_interval(bits));
    }
  }
};

/// Of a range with zero inside. Half of the elements have any exponent of the range, each as
/// likely; the other half only those in which they matter beside 1, so that functions such as exp
/// are not 1 almost everywhere.
template <class T>
struct Stratified {
  Range range;
  T operator()(std::uint64_t bits) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(bits);
    } else {
      constexpr bool is_f64 = std::is_same_v<T, double>;
      constexpr int smallest = is_f64 ? -1022 : -126;
      constexpr int relevant = is_f64 ? -53 : -24;
      // The significand takes all bits; sign and exponent are drawn from a mix of them.
      const std::uint64_t choice = mix(bits);
      const bool negative = (choice & 1) != 0;
      const double end = negative ? -range.low : range.high;
      const int highest = std::ilogb(end);
      const int lowest = (choice & 2) != 0 ? smallest : std::min(relevant, highest);
      const auto exponents =
          static_cast<std::uint64_t>(highest) - static_cast<std::uint64_t>(lowest) + 1;
      const int exponent = lowest + static_cast<int>((choice >> 16) % exponents);
      // The topmost exponent reaches only as far as the range.
      const double width = exponent == highest ? std::ldexp(end, -highest) - 1 : 1;
      const double magnitude = std::min(end, std::ldexp(1 + width * unit_interval(bits), exponent));
      return round_to<T>(negative ? -magnitude : magnitude);
    }
  }
};

/// Dense integers of [-limit, limit] without zero. A limit of 1 leaves only signs, and signs in
/// balance sum to almost nothing, so that a dropped block could cancel: P(+1) = 0.9.
template <class T>
struct Integers {
  std::int64_t limit;
  T operator()(std::uint64_t bits) const {
    const double unit = unit_interval(bits & ~std::uint64_t{1});
    if (limit == 1) return round_to<T>(unit < 0.9 ? 1.0 : -1.0);
    const auto steps = static_cast<std::int64_t>(unit * static_cast<double>(limit));
    const std::int64_t magnitude = std::min(limit, 1 + steps);
    return round_to<T>(static_cast<double>((bits & 1) != 0 ? -magnitude : magnitude));
  }
};

template <class T, class Draw>
void fill(std::span<T> elements, std::uint64_t seed, std::uint64_t stream, const Draw& draw) {
  parallel_runs(std::ssize(elements), run_elements, [&](std::int64_t first, std::int64_t count) {
    // Runs begin at even elements; one block serves two.
    for (std::int64_t i = first; i < first + count; i += 2) {
      const auto pair = random_pair(seed, stream, static_cast<std::uint64_t>(i / 2));
      elements[static_cast<std::size_t>(i)] = draw(pair[0]);
      if (i + 1 < first + count) elements[static_cast<std::size_t>(i + 1)] = draw(pair[1]);
    }
  });
}

/// All but one element, at a random place, of each run of `stride` become zero.
template <class T>
void thin_out(std::span<T> elements, std::int64_t stride, std::uint64_t seed,
              std::uint64_t stream) {
  parallel_runs(std::ssize(elements), stride * run_elements,
                [&](std::int64_t first, std::int64_t count) {
                  for (std::int64_t i = first; i < first + count; ++i) {
                    const auto run = static_cast<std::uint64_t>(i / stride);
                    const std::uint64_t chosen =
                        mix(seed ^ mix(stream ^ mix(run))) % static_cast<std::uint64_t>(stride);
                    if (static_cast<std::uint64_t>(i % stride) != chosen) {
                      elements[static_cast<std::size_t>(i)] = T{};
                    }
                  }
                });
}

/// Word i is a bijection of i, so no two 64-bit words of a tensor are equal and a misplaced block
/// of any size shows.
void fill_unique_words(std::span<std::byte> bytes, std::uint64_t offset) {
  const auto words = static_cast<std::int64_t>((bytes.size() + 7) / 8);
  parallel_runs(words, run_elements, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; ++i) {
      const std::uint64_t word = mix(static_cast<std::uint64_t>(i) + offset);
      const auto at = static_cast<std::size_t>(i) * 8;
      std::memcpy(bytes.data() + at, &word, std::min<std::size_t>(8, bytes.size() - at));
    }
  });
}

}  // namespace

void generate(const OpInstance& op, const Pass& pass, const TensorKey& key, HostTensor& tensor) {
  const std::uint64_t stream = (static_cast<std::uint64_t>(key.pass) << 48) |
                               (static_cast<std::uint64_t>(key.rank) << 16) |
                               static_cast<std::uint64_t>(key.input);
  const Data& data = pass.data;
  if (data.distribution == Distribution::unique_words) {
    fill_unique_words(tensor.bytes(), random_bits(key.seed, stream, 0));
    return;
  }
  visit_dtype(tensor.spec().dtype, [&]<class T>(std::type_identity<T>) {
    const Range range = range_of(data, tensor.spec().dtype);
    const auto elements = tensor.as<T>();
    if (data.distribution == Distribution::integers) {
      const ExactIntegers exact = exact_integers(op);
      fill(elements, key.seed, stream, Integers<T>{exact.limit});
      if (exact.stride > 1) thin_out(elements, exact.stride, key.seed, stream);
    } else if (data.distribution == Distribution::stratified) {
      fill(elements, key.seed, stream, Stratified<T>{range});
    } else {
      fill(elements, key.seed, stream, Uniform<T>{range});
    }
  });
}

}  // namespace assay::input
