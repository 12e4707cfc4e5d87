#include "kernels/ops/broadcast.h"

#include <cstring>
#include <vector>

#include "kernels/reference/families.h"
#include "kernels/reference/reference.h"

// References of elementwise ops with a repeated operand: those of the op itself, on a copy of each
// operand in which every element stands where it is used.
namespace assay::reference {
namespace {

/// Element of an operand that belongs to one of the output (outer, n, inner).
std::int64_t element_of(const TensorSpec& operand, const Shape& output, std::int64_t element) {
  if (operand.shape.size() == output.size()) return element;
  const std::int64_t n = output[1];
  const std::int64_t inner = output[2];
  return element / (n * inner) * inner + element % inner;
}

/// Elements [first, first + count) of the output's operands.
std::vector<HostTensor> laid_out(const Problem& p, std::int64_t first, std::int64_t count) {
  std::vector<HostTensor> all;
  for (const HostTensor& operand : p.ranks[0]) {
    const TensorSpec& spec = operand.spec();
    HostTensor here({.dtype = spec.dtype, .shape = {count}});
    const std::size_t bytes = size_bytes(spec.dtype);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t from = element_of(spec, p.op.signature.outputs[0].shape, first + i);
      std::memcpy(here.bytes().data() + static_cast<std::size_t>(i) * bytes,
                  operand.bytes().data() + static_cast<std::size_t>(from) * bytes, bytes);
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
