#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <utility>

namespace assay::cpu {

/// Neighbours in a register of 32 bytes, whose prefix sums are computed side by side.
template <class A>
class Neighbours {
 public:
  static constexpr std::size_t count = 32 / sizeof(A);

  template <class T>
  __attribute__((always_inline)) void load(const T* x) {
    std::array<A, count> wide;
    for (std::size_t i = 0; i < count; ++i) wide[i] = static_cast<A>(x[i]);
    std::memcpy(&sums_, wide.data(), sizeof sums_);
  }
  /// Makes each the sum of those up to it: adds that of one neighbour, then of two, then of four.
  __attribute__((always_inline)) void scan() {
    for_shifts(std::make_index_sequence<std::bit_width(count) - 1>{});
  }
  /// Writes the sums from all `before` on, and adds the last one to it. The next ones wait for that
  /// one addition.
  template <class T>
  __attribute__((always_inline)) void store(T* y, Neighbours& before) const {
    const Vector all = sums_ + before.sums_;
    std::array<A, count> wide;
    std::memcpy(wide.data(), &all, sizeof all);
    for (std::size_t i = 0; i < count; ++i) y[i] = static_cast<T>(wide[i]);
    before.sums_ += sums_[count - 1];
  }
  __attribute__((always_inline)) void set(A sum) { sums_ = sum - Vector{}; }
  A sum() const { return sums_[0]; }

 private:
  typedef A Vector __attribute__((vector_size(32)));  // NOLINT(modernize-use-using)

  template <std::size_t... round>
  __attribute__((always_inline)) void for_shifts(std::index_sequence<round...> /*rounds*/) {
    (add_shifted<std::size_t{1} << round>(std::make_index_sequence<count>{}), ...);
  }
  template <std::size_t by, std::size_t... i>
  __attribute__((always_inline)) void add_shifted(std::index_sequence<i...> /*places*/) {
    sums_ += __builtin_shufflevector(Vector{}, sums_, (i < by ? i : count + i - by)...);
  }
  Vector sums_;
};

}  // namespace assay::cpu
