#include <cmath>

#include "kernels/reference/elementwise.h"
#include "kernels/reference/families.h"
#include "kernels/reference/packed_state.h"

// Streams through memory (kernels/ops/memory_streams.cpp).
namespace assay::reference {
namespace {

State solve_read(const Problem& p) {
  std::uint64_t all = 0;
  for (const std::int64_t x : p.input<std::int64_t>(0)) all ^= static_cast<std::uint64_t>(x);
  return {as_state(all)};
}

void read_bits(const Problem&, std::span<const double> state, std::int64_t,
               std::span<std::byte> out) {
  if (!out.empty()) store(out, 0, from_state<std::int64_t>(state[0]));
}

void write_bits_of_stream(const Problem& p, std::span<const double>, std::int64_t,
                          std::span<std::byte> out) {
  const double a = p.input<double>(0)[0];
  for (std::size_t i = 0; i < out.size() / sizeof a; ++i) store(out, i, a);
}

void copy_bits(const Problem& p, std::span<const double>, std::int64_t first,
               std::span<std::byte> out) {
  const auto x = p.input<double>(0).subspan(static_cast<std::size_t>(first));
  for (std::size_t i = 0; i < out.size() / sizeof(double); ++i) store(out, i, x[i]);
}

void triad_bits(const Problem& p, std::span<const double>, std::int64_t first,
                std::span<std::byte> out) {
  const auto a = p.input<double>(0).subspan(static_cast<std::size_t>(first));
  const auto b = p.input<double>(1).subspan(static_cast<std::size_t>(first));
  const double s = p.input<double>(2)[0];
  for (std::size_t i = 0; i < out.size() / sizeof s; ++i) store(out, i, std::fma(s, b[i], a[i]));
}

constexpr ReferenceRow rows[] = {
    {"stream_read",
     [](const OpInstance&) { return Reference{.solve = solve_read, .bits = read_bits}; }},
    {"stream_write", [](const OpInstance&) { return Reference{.bits = write_bits_of_stream}; }},
    {"stream_copy", [](const OpInstance&) { return Reference{.bits = copy_bits}; }},
    {"stream_triad", [](const OpInstance&) { return Reference{.bits = triad_bits}; }},
};

}  // namespace

std::span<const ReferenceRow> memory_streams_references() { return rows; }

}  // namespace assay::reference
