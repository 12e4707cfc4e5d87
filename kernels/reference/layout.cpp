#include <algorithm>

#include "kernels/reference/families.h"

// Source of each element of the output.
namespace assay::reference {
namespace {

template <class From>
void move_elements(const Problem& p, std::int64_t first, std::span<std::byte> out,
                   const From& from) {
  const std::size_t bytes = size_bytes(p.op.dtype());
  const auto x = p.ranks[0][0].bytes();
  for (std::size_t i = 0; i < out.size() / bytes; ++i) {
    const auto source = x.subspan(
        static_cast<std::size_t>(from(first + static_cast<std::int64_t>(i))) * bytes, bytes);
    std::copy(source.begin(), source.end(), out.begin() + static_cast<std::ptrdiff_t>(i * bytes));
  }
}

void transpose_bits(const Problem& p, std::span<const double>, std::int64_t first,
                    std::span<std::byte> out) {
  const std::int64_t rows = p.op.params.integer("rows");
  const std::int64_t cols = p.op.params.integer("cols");
  move_elements(p, first, out, [=](std::int64_t i) { return i % rows * cols + i / rows; });
}

void gather_bits(const Problem& p, std::span<const double>, std::int64_t first,
                 std::span<std::byte> out) {
  const std::int64_t cols = p.op.params.integer("cols");
  const auto index = p.input<std::int64_t>(1);
  move_elements(p, first, out, [=](std::int64_t i) {
    return index[static_cast<std::size_t>(i / cols)] * cols + i % cols;
  });
}

Reference transpose(const OpInstance&) { return {.bits = transpose_bits}; }
Reference gather(const OpInstance&) { return {.bits = gather_bits}; }

constexpr ReferenceRow rows[] = {
    {"transpose", transpose},
    {"gather", gather},
};

}  // namespace

std::span<const ReferenceRow> layout_references() { return rows; }

}  // namespace assay::reference
