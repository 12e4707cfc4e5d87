#include <type_traits>
#include <vector>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/vectorize.h"

namespace assay::cpu {
namespace {

/// Partial sums of short blocks keep the chain of additions, and with it the error, short.
constexpr std::int64_t block_elements = 2048;

template <class A, class T>
ASSAY_VECTOR_CLONES A sum_block(const T* x, std::int64_t n) {
  A sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) sum += static_cast<A>(x[i]);
  return sum;
}

template <class A, class T>
A sum_range(const T* x, std::int64_t n) {
  A sum = 0;
  for (std::int64_t i = 0; i < n; i += block_elements) {
    sum += sum_block<A>(x + i, std::min(block_elements, n - i));
  }
  return sum;
}

std::unique_ptr<Kernel> sum(const OpInstance& op, const Binding& binding) {
  return for_dtype<double, float, std::int64_t>(op, [&]<class T>(std::type_identity<T>) {
    // Integers wrap as unsigned.
    using A = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
    const auto* x = static_cast<const T*>(binding.inputs[0]);
    auto* y = static_cast<T*>(binding.outputs[0]);
    const std::int64_t n = op.signature.inputs[0].elements();
    return std::make_unique<FunctionKernel>("OpenMP blocked sum", [=] {
      // One slot a thread, added in order: an OpenMP reduction would add in the order in which the
      // threads finish, and the result would differ from launch to launch.
      std::vector<A> partial(static_cast<std::size_t>(omp_get_max_threads()), A{0});
      parallel_blocks(n, sizeof(T),
                      [&](std::int64_t thread, std::int64_t first, std::int64_t count) {
                        partial[static_cast<std::size_t>(thread)] = sum_range<A>(x + first, count);
                      });
      A total = 0;
      for (const A part : partial) total += part;
      *y = static_cast<T>(total);
    });
  });
}

constexpr KernelRow rows[] = {
    {"sum", sum},
};

}  // namespace

std::span<const KernelRow> reduction_kernels() { return rows; }

}  // namespace assay::cpu
