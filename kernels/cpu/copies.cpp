#include <algorithm>
#include <cstring>
#include <string>

#include "kernels/cpu/huge_pages.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/vectorize.h"

namespace assay::cpu {
namespace {

const std::byte* source(const Binding& binding) {
  return static_cast<const std::byte*>(binding.inputs[0]);
}
std::byte* destination(const Binding& binding) {
  return static_cast<std::byte*>(binding.outputs[0]);
}

/// Describes the copy. If huge pages were requested, adds the share of both tensors that lies on
/// them.
std::string described(const std::string& copy, const OpInstance& op, const Binding& binding) {
  if (op.signature.inputs[0].memory != Memory::huge_pages) return copy;
  const double share =
      std::min(huge_page_share(binding.inputs[0]), huge_page_share(binding.outputs[0]));
  // Rounded down: 100 means all of it.
  return copy + ", " + std::to_string(static_cast<int>(share * 100)) + "% on huge pages";
}

std::unique_ptr<Kernel> copy_bytes(const OpInstance& op, const Binding& binding) {
  const std::byte* from = source(binding);
  std::byte* to = destination(binding);
  const auto bytes = static_cast<std::int64_t>(op.signature.inputs[0].bytes());
  if (op.params.word("threads") == "one") {
    return std::make_unique<FunctionKernel>(described("memcpy", op, binding), [=] {
      std::memcpy(to, from, static_cast<std::size_t>(bytes));
    });
  }
  return std::make_unique<FunctionKernel>(described("memcpy per OpenMP thread", op, binding), [=] {
    parallel_blocks(bytes, 2, [=](std::int64_t, std::int64_t first, std::int64_t count) {
      std::memcpy(to + first, from + first, static_cast<std::size_t>(count));
    });
  });
}

void copy_rows(std::byte* to, const std::byte* from, std::int64_t rows, std::int64_t width,
               std::int64_t pitch) {
  for (std::int64_t row = 0; row < rows; ++row) {
    std::memcpy(to + row * pitch, from + row * pitch, static_cast<std::size_t>(width));
  }
}

std::unique_ptr<Kernel> copy_matrix(const OpInstance& op, const Binding& binding) {
  const TensorSpec& spec = op.signature.inputs[0];
  // Rows without gaps are contiguous, so threads take even shares.
  if (spec.is_dense()) return copy_bytes(op, binding);
  const std::byte* from = source(binding);
  std::byte* to = destination(binding);
  const std::int64_t rows = spec.shape[0];
  const std::int64_t width = spec.row_elements();
  const std::int64_t pitch = spec.row_stride();
  if (op.params.word("threads") == "one") {
    return std::make_unique<FunctionKernel>("memcpy per row",
                                            [=] { copy_rows(to, from, rows, width, pitch); });
  }
  return std::make_unique<FunctionKernel>("memcpy per row, rows shared by OpenMP threads", [=] {
    parallel_blocks(rows, 2 * width, [=](std::int64_t, std::int64_t first, std::int64_t count) {
      copy_rows(to + first * pitch, from + first * pitch, count, width, pitch);
    });
  });
}

constexpr KernelRow rows[] = {
    {"memcpy", copy_bytes},
    {"memcpy_2d", copy_matrix},
};

}  // namespace

std::span<const KernelRow> copies_kernels() { return rows; }

}  // namespace assay::cpu
