#include "kernels/core/philox.h"
#include "kernels/core/random_element.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/vectorize.h"

namespace assay::cpu {
namespace {

/// Elements 2 k and 2 k + 1 are the halves of block k.
template <class T>
void random_range(std::uint64_t seed, T* y, std::int64_t first, std::int64_t count) {
  for (std::int64_t i = first; i < first + count; ++i) {
    const auto pair = random_pair(seed, 0, static_cast<std::uint64_t>(i / 2));
    y[i] = random_element<T>(pair.at(static_cast<std::size_t>(i % 2)));
    if (i % 2 == 0 && i + 1 < first + count) y[++i] = random_element<T>(pair[1]);
  }
}

std::unique_ptr<Kernel> random(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
    auto* y = static_cast<T*>(binding.outputs[0]);
    const std::int64_t n = op.params.integer("n");
    const auto seed = static_cast<std::uint64_t>(op.params.integer("seed"));
    return std::make_unique<FunctionKernel>("Philox 4x32-10, OpenMP loop", [=] {
      parallel_blocks(n, sizeof(T), [=](std::int64_t, std::int64_t first, std::int64_t count) {
        random_range(seed, y, first, count);
      });
    });
  });
}

constexpr KernelRow rows[] = {
    {"random", random},
};

}  // namespace

std::span<const KernelRow> random_kernels() { return rows; }

}  // namespace assay::cpu
