#include "harness/execute/decoys.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace assay {
namespace {

/// Length of a run: a line of the cache in f32.
constexpr std::int64_t run_elements = 16;
/// Outputs of at most so many elements are overwritten whole.
constexpr std::int64_t few_elements = 256;
constexpr std::int64_t elements_per_run = 1024;
constexpr std::int64_t max_runs = 24;

/// Bits of an element that may change without making it another kind of number: all of a float's
/// significand but its highest, the lower half of an integer.
unsigned changeable_bits(DType dtype) {
  const auto bits = static_cast<unsigned>(8 * size_bytes(dtype));
  if (!is_floating(dtype)) return std::max(1U, bits / 2);
  return static_cast<unsigned>(std::max(1, precision_bits(dtype) - 3));
}

}  // namespace

ElementRuns draw_runs(std::int64_t elements, std::int64_t count, std::int64_t length,
                      std::mt19937_64& random) {
  ElementRuns runs{.length = std::min(length, elements)};
  if (elements == 0) return runs;
  std::uniform_int_distribution<std::int64_t> any(0, elements - runs.length);
  for (std::int64_t i = 0; i < count; ++i) runs.first.push_back(any(random));
  return runs;
}

/// Elements from anywhere in the donor, half of them with other bits.
void Decoys::imitate(const HostTensor& donor, const ElementRuns& runs, std::span<std::byte> bytes) {
  const std::size_t width = size_bytes(donor.spec().dtype);
  const std::uint64_t mask = (std::uint64_t{1} << changeable_bits(donor.spec().dtype)) - 1;
  // Integers may be truth values, of which other bits would tell.
  const bool may_keep = donor.spec().elements() > 1;
  const bool keeps_all = may_keep && !is_floating(donor.spec().dtype);
  std::uniform_int_distribution<std::int64_t> any(0, donor.spec().elements() - runs.length);
  for (std::size_t at = 0; at < bytes.size();) {
    const auto from = static_cast<std::size_t>(any(random_)) * width;
    const std::size_t count = static_cast<std::size_t>(runs.length) * width;
    std::ranges::copy(donor.bytes().subspan(from, count), bytes.subspan(at).begin());
    for (std::size_t element = at; element < at + count; element += width) {
      const std::uint64_t word = random_();
      if (keeps_all || (may_keep && std::bit_width(word) < 64)) continue;
      const std::uint64_t change = std::max<std::uint64_t>(1, word & mask);
      std::uint64_t bits = 0;
      std::memcpy(&bits, &bytes[element], width);
      bits ^= change;
      std::memcpy(&bytes[element], &bits, width);
    }
    at += count;
  }
}

ElementRuns Decoys::lay(TensorSet& tensors) {
  const std::int64_t elements = op_.signature.outputs[0].elements();
  const bool is_whole = elements <= few_elements;
  const ElementRuns runs =
      is_whole
          ? draw_runs(elements, 1, elements, random_)
          : draw_runs(elements, std::clamp(elements / elements_per_run, std::int64_t{1}, max_runs),
                      run_elements, random_);
  if (runs.first.empty() || op_.signature.in_place) return runs;
  const auto run_bytes = static_cast<std::size_t>(runs.length) * size_bytes(output_dtype(op_));
  std::vector<std::byte> content(run_bytes * runs.first.size());
  for (const int rank : output_ranks(op_.signature)) {
    imitate(donors_[static_cast<std::size_t>(rank)], runs, content);
    std::vector<input::GuardedTensor::Run<const std::byte>> content_runs;
    for (std::size_t i = 0; i < runs.first.size(); ++i) {
      content_runs.push_back(
          {static_cast<std::size_t>(runs.first[i]) * size_bytes(output_dtype(op_)),
           std::span(content).subspan(i * run_bytes, run_bytes)});
    }
    tensors.overwrite_output(rank, content_runs);
  }
  return runs;
}

}  // namespace assay
