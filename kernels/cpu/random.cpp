#include <algorithm>
#include <array>
#include <span>

#include "kernels/core/philox.h"
#include "kernels/core/random_element.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/vectorize.h"

namespace assay::cpu {
namespace {

template <class T>
ASSAY_VECTOR_CLONES void random_elements(const std::uint64_t* words, T* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = random_element<T>(words[i]);
}

/// `first` is even: elements 2 k and 2 k + 1 are the halves of block k.
template <class T>
void random_range(std::uint64_t seed, T* y, std::int64_t first, std::int64_t count) {
  constexpr std::int64_t at_once = 512;
  std::array<std::uint64_t, at_once> words;
  for (std::int64_t begin = first; begin < first + count; begin += at_once) {
    const std::int64_t n = std::min(at_once, first + count - begin);
    random_words(seed, 0, static_cast<std::uint64_t>(begin / 2),
                 std::span(words).first(static_cast<std::size_t>(n)));
    random_elements(words.data(), y + begin, n);
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
