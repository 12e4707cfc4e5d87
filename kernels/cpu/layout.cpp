#include <array>
#include <cstring>
#include <type_traits>

#include "kernels/cpu/caches.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/turned.h"
#include "kernels/cpu/vectorize.h"

// Ops that move elements without computing.
namespace assay::cpu {
namespace {

std::unique_ptr<Kernel> transpose(const OpInstance& op, const Binding& binding) {
  return for_size(op, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Kernel> {
    const auto* x = static_cast<const T*>(binding.inputs[0]);
    auto* y = static_cast<T*>(binding.outputs[0]);
    const std::int64_t rows = op.params.integer("rows");
    const std::int64_t cols = op.params.integer("cols");
    return std::make_unique<FunctionKernel>("OpenMP tiles turned in the first cache", [=] {
      turn(StepMatrix<const T>{x, cols}, StepMatrix<T>{y, rows}, rows, cols);
    });
  });
}

std::unique_ptr<Kernel> gather(const OpInstance& op, const Binding& binding) {
  const auto* x = static_cast<const std::byte*>(binding.inputs[0]);
  const auto* index = static_cast<const std::int64_t*>(binding.inputs[1]);
  auto* y = static_cast<std::byte*>(binding.outputs[0]);
  const std::int64_t row_bytes =
      op.params.integer("cols") * static_cast<std::int64_t>(size_bytes(op.dtype()));
  const std::int64_t taken = op.params.integer("count");
  return std::make_unique<FunctionKernel>("memcpy of rows, OpenMP", [=] {
    parallel_blocks(taken, row_bytes, [=](std::int64_t, std::int64_t first, std::int64_t count) {
      for (std::int64_t i = first; i < first + count; ++i) {
        std::memcpy(y + i * row_bytes, x + index[i] * row_bytes,
                    static_cast<std::size_t>(row_bytes));
      }
    });
  });
}

constexpr KernelRow rows[] = {
    {"transpose", transpose},
    {"gather", gather},
};

}  // namespace

std::span<const KernelRow> layout_kernels() { return rows; }

}  // namespace assay::cpu
