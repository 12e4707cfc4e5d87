#include <cstring>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/vectorize.h"

namespace assay::cpu {
namespace {

std::unique_ptr<Kernel> copy_bytes(const OpInstance& op, const Binding& binding) {
  const auto* from = static_cast<const std::byte*>(binding.inputs[0]);
  auto* to = static_cast<std::byte*>(binding.outputs[0]);
  const auto bytes = static_cast<std::int64_t>(op.signature.inputs[0].bytes());
  if (op.params.word("threads") == "one") {
    return std::make_unique<FunctionKernel>(
        "memcpy", [=] { std::memcpy(to, from, static_cast<std::size_t>(bytes)); });
  }
  return std::make_unique<FunctionKernel>("memcpy per OpenMP thread", [=] {
    parallel_blocks(bytes, 2, [=](std::int64_t, std::int64_t first, std::int64_t count) {
      std::memcpy(to + first, from + first, static_cast<std::size_t>(count));
    });
  });
}

constexpr KernelRow rows[] = {
    {"memcpy", copy_bytes},
};

}  // namespace

std::span<const KernelRow> memcpy_kernels() { return rows; }

}  // namespace assay::cpu
