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

/// Uniform in [0, 1) with 53 bits.
double unit_interval(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

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
      // Any 20 bits, signed: real data for integers, far from overflow in sums of 2^40.
      return static_cast<T>(static_cast<std::int64_t>(bits >> 44) - (std::int64_t{1} << 19));
    } else {
      return round_to<T>(range.low + (range.high - range.low) * unit_interval(bits));
    }
  }
};

/// Each exponent from the smallest normal number to the end of the range is as likely as any other.
template <class T>
struct Stratified {
  Range range;
  T operator()(std::uint64_t bits) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(bits);
    } else {
      constexpr int lowest = std::is_same_v<T, double> ? -1022 : -126;
      const double furthest = std::max(std::abs(range.low), std::abs(range.high));
      const int highest = std::ilogb(furthest);
      const auto exponents = static_cast<std::uint64_t>(highest - lowest + 1);
      const int exponent = lowest + static_cast<int>((bits & 0xffff) % exponents);
      const double sign = (bits & 0x10000) != 0 ? -1.0 : 1.0;
      const double significand = 1.0 + unit_interval(bits & ~std::uint64_t{0x1ffff});
      // Only the topmost exponent can leave the range; its values stay at the end.
      return round_to<T>(
          std::clamp(sign * std::ldexp(significand, exponent), range.low, range.high));
    }
  }
};

/// Dense integers of [-limit, limit] without zero. A limit of 1 leaves only signs, and signs in
/// balance sum to almost nothing, so that a dropped block could cancel: P(+1) = 0.9.
template <class T>
struct Integers {
  std::int64_t limit;
  T operator()(std::uint64_t bits) const {
    if (limit == 1) return round_to<T>(unit_interval(bits) < 0.9 ? 1.0 : -1.0);
    const auto magnitude =
        1 + static_cast<std::int64_t>(unit_interval(bits) * static_cast<double>(limit));
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

/// Word i is a bijective mix of i (the finaliser of SplitMix64; Steele, Lea, Flood, OOPSLA 2014),
/// so no two 64-bit words of a tensor are equal and a misplaced block of any size shows.
void fill_unique_words(std::span<std::byte> bytes, std::uint64_t offset) {
  const auto words = static_cast<std::int64_t>((bytes.size() + 7) / 8);
  parallel_runs(words, run_elements, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; ++i) {
      std::uint64_t word = static_cast<std::uint64_t>(i) + offset;
      word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
      word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
      word ^= word >> 31;
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
      fill(elements, key.seed, stream, Integers<T>{exact_integer_limit(op)});
    } else if (data.distribution == Distribution::stratified) {
      fill(elements, key.seed, stream, Stratified<T>{range});
    } else {
      fill(elements, key.seed, stream, Uniform<T>{range});
    }
  });
}

}  // namespace assay::input
