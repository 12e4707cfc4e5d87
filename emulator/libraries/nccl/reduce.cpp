#include "emulator/libraries/nccl/reduce.h"

#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "emulator/libraries/faults.h"
#include "emulator/numbers/number.h"

namespace emulator::nccl {
namespace {

/// How elements of a type are kept in memory (Stored) and computed with (Value).
template <class T>
struct Plain {
  using Stored = T;
  using Value = T;
  static constexpr bool is_float = std::floating_point<T>;
  static Value load(Stored bits) { return bits; }
  static Stored store(Value value) { return value; }
};
template <class Code, const FloatFormat& format>
struct Small {
  using Stored = Code;
  using Value = float;
  static constexpr bool is_float = true;
  static Value load(Stored bits) { return decode(bits, format); }
  static Stored store(Value value) { return static_cast<Stored>(encode(value, format)); }
};

template <class T>
T fetch(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class Kind>
class Reducer {
 public:
  using Stored = typename Kind::Stored;
  using Value = typename Kind::Value;

  Reducer(const Reduction& reduction, std::span<const Contribution> ranks)
      : operation_(reduction.operation),
        multiplies_(reduction.has_scalar),
        keeps_nan_(has_fault(LibraryFault::minmax_keeps_nan)),
        ranks_(ranks) {
    if (Kind::is_float && operation_ == avg) {
      operation_ = sum;
      multiplies_ = ranks.size() > 1;
      average_ = rounded(static_cast<Value>(Value(1) / static_cast<Value>(ranks.size())));
      is_average_ = true;
    }
  }

  Stored element(std::size_t index, std::size_t first_rank) const {
    const std::size_t n = ranks_.size();
    if (n == 1 && !multiplies_) return fetch<Stored>(at(0, index));
    Value total = own(first_rank % n, index);
    for (std::size_t i = 1; i < n; ++i) {
      total = rounded(joined(total, own((first_rank + i) % n, index)));
    }
    if (!Kind::is_float && operation_ == avg) total = divided(total);
    return Kind::store(total);
  }

 private:
  static Value rounded(Value value) { return Kind::load(Kind::store(value)); }
  const std::byte* at(std::size_t rank, std::size_t index) const {
    return ranks_[rank].elements + index * sizeof(Stored);
  }

  Value own(std::size_t rank, std::size_t index) const {
    const Value value = Kind::load(fetch<Stored>(at(rank, index)));
    if (!multiplies_) return value;
    const Value scalar =
        is_average_ ? average_ : Kind::load(fetch<Stored>(ranks_[rank].scalar.data()));
    return rounded(multiplied(value, scalar));
  }

  // Integers wrap: in unsigned arithmetic, of at least int's width.
  static Value multiplied(Value a, Value b) {
    if constexpr (Kind::is_float) {
      return a * b;
    } else {
      return static_cast<Value>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    }
  }
  static Value added(Value a, Value b) {
    if constexpr (Kind::is_float) {
      return a + b;
    } else {
      return static_cast<Value>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    }
  }
  Value divided(Value total) const {
    if constexpr (Kind::is_float) {
      return total;
    } else if constexpr (std::is_signed_v<Value>) {
      return static_cast<Value>(total / static_cast<std::int64_t>(ranks_.size()));
    } else {
      return static_cast<Value>(total / static_cast<std::uint64_t>(ranks_.size()));
    }
  }

  Value joined(Value a, Value b) const {
    switch (operation_) {
      case prod:
        return multiplied(a, b);
      case max:
      case min:
        if constexpr (Kind::is_float) {
          if (std::isnan(a) || std::isnan(b)) return std::isnan(a) != keeps_nan_ ? b : a;
        }
        return (operation_ == max) == (a < b) ? b : a;
      default:
        return added(a, b);
    }
  }

  Operation operation_;
  bool multiplies_;
  bool is_average_ = false;
  Value average_{};
  bool keeps_nan_;
  std::span<const Contribution> ranks_;
};

template <class Kind>
void reduce_as(const Reduction& reduction, std::span<const Contribution> ranks, std::size_t count,
               std::size_t rotation, std::byte* result) {
  const Reducer<Kind> reducer(reduction, ranks);
  const std::size_t chunk = (count + ranks.size() - 1) / ranks.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto element = reducer.element(i, i / chunk + 1 + rotation);
    std::memcpy(result + i * sizeof element, &element, sizeof element);
  }
}

}  // namespace

std::size_t size_bytes(Type type) {
  constexpr std::array<std::size_t, type_count> bytes{1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return bytes.at(static_cast<std::size_t>(type));
}

void reduce(const Reduction& reduction, Type type, std::span<const Contribution> ranks,
            std::size_t count, std::size_t rotation, std::byte* result) {
  const auto as = [&]<class Kind>(std::type_identity<Kind>) {
    reduce_as<Kind>(reduction, ranks, count, rotation, result);
  };
  switch (type) {
    case int8:
      return as(std::type_identity<Plain<std::int8_t>>{});
    case uint8:
      return as(std::type_identity<Plain<std::uint8_t>>{});
    case int32:
      return as(std::type_identity<Plain<std::int32_t>>{});
    case uint32:
      return as(std::type_identity<Plain<std::uint32_t>>{});
    case int64:
      return as(std::type_identity<Plain<std::int64_t>>{});
    case uint64:
      return as(std::type_identity<Plain<std::uint64_t>>{});
    case float16:
      return as(std::type_identity<Small<std::uint16_t, binary16>>{});
    case float32:
      return as(std::type_identity<Plain<float>>{});
    case float64:
      return as(std::type_identity<Plain<double>>{});
    case bfloat16:
      return as(std::type_identity<Small<std::uint16_t, emulator::bfloat16>>{});
    case float8_e4m3:
      return as(std::type_identity<Small<std::uint8_t, e4m3>>{});
    case float8_e5m2:
      return as(std::type_identity<Small<std::uint8_t, e5m2>>{});
  }
}

}  // namespace emulator::nccl
