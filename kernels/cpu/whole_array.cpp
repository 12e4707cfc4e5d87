#include <array>
#include <parallel/algorithm>
#include <type_traits>
#include <vector>

#include "kernels/cpu/map.h"

// Ops of which each output depends on many inputs.
namespace assay::cpu {
namespace {

template <class A, class T>
ASSAY_VECTOR_CLONES A sum_range(const T* x, std::int64_t n) {
  A sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) sum += static_cast<A>(widened(x[i]));
  return sum;
}

/// Parts of a chunk that are scanned side by side: one chain of additions waits for each of them.
constexpr std::size_t chains = 8;
constexpr std::int64_t chain_elements = 256;
constexpr std::int64_t chunk_elements = chain_elements * static_cast<std::int64_t>(chains);

/// y[i] = start + x[0] + ... + x[i] of a whole chunk; returns the last sum.
template <class A, class T>
A scan_chunk(const T* x, T* y, A start) {
  std::array<A, chains> sums;
  for (std::size_t k = 0; k < chains; ++k) {
    sums[k] = start;
    start += sum_range<A>(x + static_cast<std::int64_t>(k) * chain_elements, chain_elements);
  }
  for (std::int64_t i = 0; i < chain_elements; ++i) {
    for (std::size_t k = 0; k < chains; ++k) {
      const std::int64_t at = static_cast<std::int64_t>(k) * chain_elements + i;
      sums[k] += static_cast<A>(widened(x[at]));
      y[at] = static_cast<T>(sums[k]);
    }
  }
  return sums[chains - 1];
}

/// The same of any range, past the caches where it `streams`.
template <class A, class T>
void scan_range(const T* x, T* y, std::int64_t n, A start, bool streams) {
  std::array<T, static_cast<std::size_t>(chunk_elements)> stage;
  std::int64_t i = 0;
  for (; i + chunk_elements <= n; i += chunk_elements) {
    start = scan_chunk<A>(x + i, streams ? stage.data() : y + i, start);
    if (streams) stream_out(y + i, stage.data(), sizeof stage);
  }
  for (; i < n; ++i) {
    start += static_cast<A>(widened(x[i]));
    y[i] = static_cast<T>(start);
  }
  end_streaming();
}

/// Each thread sums its block, and then scans it from the sum of the blocks before.
template <class A, class T>
void scan_blocks(const T* x, T* y, std::int64_t n) {
  std::vector<A> sums(static_cast<std::size_t>(omp_get_max_threads()), A{0});
  const auto sum_of = [&](std::int64_t thread) -> A& {
    return sums[static_cast<std::size_t>(thread)];
  };
  parallel_blocks(n, 2 * sizeof(T),
                  [&](std::int64_t thread, std::int64_t first, std::int64_t count) {
                    sum_of(thread) = sum_range<A>(x + first, count);
                  });
  A before = 0;
  for (A& sum : sums) before += std::exchange(sum, before);
  const bool streams = exceeds_caches(2 * n * std::int64_t{sizeof(T)});
  parallel_blocks(n, 2 * sizeof(T),
                  [&](std::int64_t thread, std::int64_t first, std::int64_t count) {
                    scan_range<A>(x + first, y + first, count, sum_of(thread), streams);
                  });
}

std::unique_ptr<Kernel> scan(const OpInstance& op, const Binding& binding) {
  return for_dtypes(SignedNumbers{}, op, [&]<class T>(std::type_identity<T>) {
    const auto* x = static_cast<const T*>(binding.inputs[0]);
    auto* y = static_cast<T*>(binding.outputs[0]);
    const std::int64_t n = op.signature.inputs[0].elements();
    return std::make_unique<FunctionKernel>("OpenMP blocks, two passes", [=] {
      if constexpr (std::is_integral_v<T>) {  // wraps
        scan_blocks<std::make_unsigned_t<T>>(x, y, n);
      } else {
        scan_blocks<Computed<T>>(x, y, n);
      }
    });
  });
}

template <std::size_t Bytes>
using Word = std::conditional_t<
    Bytes == 8, std::uint64_t,
    std::conditional_t<Bytes == 4, std::uint32_t,
                       std::conditional_t<Bytes == 2, std::uint16_t, std::uint8_t>>>;

/// Unsigned integers in the order of the Ts whose bits they are. Of floats the negative ones are
/// reversed; NaNs, which compare with nothing, come to stand at the ends.
template <class T>
Word<sizeof(T)> key_of(Word<sizeof(T)> bits) {
  using W = Word<sizeof(T)>;
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
    {"scan", scan},
    {"sort", sort},
};

}  // namespace

std::span<const KernelRow> whole_array_kernels() { return rows; }

}  // namespace assay::cpu
