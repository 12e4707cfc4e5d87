#include "kernels/ops/broadcast.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/reference/families.h"
#include "kernels/reference/reference.h"

// References of elementwise ops with a repeated operand: those of the op itself, on a copy of each
// operand in which every element stands where it is used.
namespace assay::reference {
namespace {

/// Elements [first, first + count) of the output's operands.
std::vector<HostTensor> laid_out(const Problem& p, std::int64_t first, std::int64_t count) {
  std::vector<HostTensor> all;
  const Shape& output = p.op.signature.outputs[0].shape;
  for (const HostTensor& operand : p.ranks[0]) {
    const TensorSpec& spec = operand.spec();
    HostTensor here({.dtype = spec.dtype, .shape = {count}});
    const std::size_t bytes = size_bytes(spec.dtype);
    const std::byte* const from = operand.bytes().data();
    std::byte* to = here.bytes().data();
    const bool is_repeated = spec.shape.size() < output.size();
    // In pieces that lie as they do in the output, which is (outer, n, inner).
    for (std::int64_t i = first; i < first + count;) {
      const std::int64_t in_row = is_repeated ? i % output[2] : 0;
      const std::int64_t left = first + count - i;
      const std::int64_t piece = is_repeated ? std::min(left, output[2] - in_row) : left;
      const std::int64_t at = is_repeated ? i / (output[1] * output[2]) * output[2] + in_row : i;
      const std::size_t length = static_cast<std::size_t>(piece) * bytes;
      std::memcpy(to, from + static_cast<std::size_t>(at) * bytes, length);
      to += length;
      i += piece;
    }
    all.push_back(std::move(here));
  }
  return all;
}

void broadcast_bits(const Problem& p, std::span<const double>, std::int64_t first,
                    std::span<std::byte> out) {
  const auto count = static_cast<std::int64_t>(out.size() / size_bytes(output_dtype(p.op)));
  std::vector<std::vector<HostTensor>> ranks;
  ranks.push_back(laid_out(p, first, count));
  find(p.op, base_of_broadcast(p.op.op->name)).bits({.op = p.op, .ranks = ranks}, {}, 0, out);
}

Reference broadcast(const OpInstance&) { return {.bits = broadcast_bits}; }

constexpr ReferenceRow rows[] = {
    {"add_broadcast", broadcast},  {"sub_broadcast", broadcast},   {"mul_broadcast", broadcast},
    {"div_broadcast", broadcast},  {"min_broadcast", broadcast},   {"max_broadcast", broadcast},
    {"less_broadcast", broadcast}, {"equal_broadcast", broadcast}, {"where_broadcast", broadcast},
};

}  // namespace

std::span<const ReferenceRow> broadcast_references() { return rows; }

}  // namespace assay::reference
