#include <cstring>
#include <utility>

#include "kernels/reference/families.h"

// Source of each element of an output that lays (outer, n, inner) out anew along n.
namespace assay::reference {
namespace {

/// Place of an element of the output.
struct Place {
  std::int64_t outer;
  std::int64_t j;
  std::int64_t inner;
};

/// Input and place there that an element of the output is a copy of.
struct Source {
  std::size_t input;
  Place place;
};

std::int64_t element_at(const Shape& shape, const Place& place) {
  if (shape.size() == 1) return 0;  // of a scalar
  return (place.outer * shape[1] + place.j) * shape[2] + place.inner;
}

template <class SourceOf>
void move_elements(const Problem& p, std::int64_t first, std::span<std::byte> out,
                   const SourceOf& source_of) {
  const std::size_t bytes = size_bytes(p.op.dtype());
  const Shape& y = p.op.signature.outputs[0].shape;
  if (out.empty()) return;
  Place place{first / (y[1] * y[2]), first / y[2] % y[1], first % y[2]};
  for (std::size_t at = 0; at < out.size(); at += bytes) {
    const Source from = source_of(place);
    const HostTensor& x = p.ranks[0][from.input];
    const auto element = static_cast<std::size_t>(element_at(x.spec().shape, from.place));
    std::memcpy(out.data() + at, x.bytes().data() + element * bytes, bytes);
    if (++place.inner < y[2]) continue;
    place.inner = 0;
    if (++place.j < y[1]) continue;
    place.j = 0;
    ++place.outer;
  }
}

void concat_bits(const Problem& p, std::span<const double>, std::int64_t first,
                 std::span<std::byte> out) {
  const std::int64_t n = p.op.params.integer("n");
  move_elements(p, first, out, [=](Place at) {
    if (at.j < n) return Source{0, at};
    return Source{1, {at.outer, at.j - n, at.inner}};
  });
}

void slice_bits(const Problem& p, std::span<const double>, std::int64_t first,
                std::span<std::byte> out) {
  const std::int64_t start = p.op.params.integer("start");
  const std::int64_t step = p.op.params.integer("step");
  move_elements(p, first, out, [=](Place at) {
    return Source{0, {at.outer, start + at.j * step, at.inner}};
  });
}

void pad_bits(const Problem& p, std::span<const double>, std::int64_t first,
              std::span<std::byte> out) {
  const std::int64_t n = p.op.params.integer("n");
  const std::int64_t before = p.op.params.integer("before");
  move_elements(p, first, out, [=](Place at) {
    const std::int64_t j = at.j - before;
    return Source{j >= 0 && j < n ? 0U : 1U, {at.outer, j, at.inner}};
  });
}

void flip_bits(const Problem& p, std::span<const double>, std::int64_t first,
               std::span<std::byte> out) {
  const std::int64_t last = p.op.params.integer("n") - 1;
  move_elements(p, first, out, [=](Place at) {
    return Source{0, {at.outer, last - at.j, at.inner}};
  });
}

void repeat_bits(const Problem& p, std::span<const double>, std::int64_t first,
                 std::span<std::byte> out) {
  const std::int64_t n = p.op.params.integer("n");
  move_elements(p, first, out, [=](Place at) { return Source{0, {at.outer, at.j % n, at.inner}}; });
}

Reference concat(const OpInstance&) { return {.bits = concat_bits}; }
Reference slice(const OpInstance&) { return {.bits = slice_bits}; }
Reference pad(const OpInstance&) { return {.bits = pad_bits}; }
Reference flip(const OpInstance&) { return {.bits = flip_bits}; }
Reference repeat(const OpInstance&) { return {.bits = repeat_bits}; }

constexpr ReferenceRow rows[] = {
    {"concat", concat}, {"slice", slice}, {"pad", pad}, {"flip", flip}, {"repeat", repeat},
};

}  // namespace

std::span<const ReferenceRow> pieces_references() { return rows; }

}  // namespace assay::reference
