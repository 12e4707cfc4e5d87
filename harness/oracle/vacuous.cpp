#include "harness/oracle/vacuous.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "harness/oracle/compare.h"
#include "harness/oracle/number.h"
#include "kernels/ops/collectives.h"

namespace assay::oracle {
namespace {

/// Fewest elements to test; fewer may be zero or equal by chance.
constexpr std::int64_t enough_elements = 64;

/// True if outputs pass whose bytes from element `first` on are `content(first)`. Looks at a few
/// places first, and at all of them only if these pass: a border of one number may be long.
template <class Content>
bool passes_as(const reference::Reference& expected, const reference::Problem& problem,
               std::span<const double> state, const Tolerance& tolerance, std::int64_t elements,
               const Content& content) {
  const std::size_t bytes = size_bytes(output_dtype(problem.op));
  const auto passes_from = [&](std::int64_t first) {
    const std::int64_t count = std::min(run_elements, elements - first);
    const std::vector<std::byte> decoy =
        content(static_cast<std::size_t>(first) * bytes, static_cast<std::size_t>(count) * bytes);
    return compare_run(expected, problem, state, tolerance, decoy, 0, first).passed();
  };
  const std::int64_t last = std::max<std::int64_t>(0, elements - run_elements);
  for (const std::int64_t first : {std::int64_t{0}, last / 2, last})
    if (!passes_from(first)) return false;
  for (std::int64_t first = 0; first < last; first += run_elements)
    if (!passes_from(first)) return false;
  return true;
}

/// One element: the mean of the finite ones. Empty for integers.
std::vector<std::byte> mean_of(std::span<const std::byte> outputs, DType dtype) {
  return visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    std::vector<std::byte> bytes;
    if constexpr (is_float<T>) {
      double sum = 0;
      std::int64_t count = 0;
      for (std::size_t at = 0; at < outputs.size(); at += sizeof(T)) {
        T element;
        std::memcpy(&element, outputs.data() + at, sizeof(T));
        if (!std::isfinite(widen(element))) continue;
        sum += widen(element);
        ++count;
      }
      const T mean = correctly_rounded<T>(count > 0 ? sum / static_cast<double>(count) : 0, 0);
      bytes.resize(sizeof(T));
      std::memcpy(bytes.data(), &mean, sizeof(T));
    }
    return bytes;
  });
}

/// True for a single real output of many terms. An index or an integer may well be zero.
bool is_one_number(const OpInstance& op) {
  const TensorSpec& y = op.signature.outputs[0];
  return op.signature.terms >= enough_elements && y.elements() == 1 && is_floating(y.dtype);
}

}  // namespace

std::vector<std::string> decoys(const reference::Reference& expected,
                                const reference::Problem& problem, std::span<const double> state,
                                const Tolerance& tolerance, std::span<const std::byte> right,
                                std::byte poison) {
  const OpInstance& op = problem.op;
  const std::int64_t elements = op.signature.outputs[0].elements();
  const bool many = elements >= enough_elements;
  std::vector<std::string> found;
  if (!many && !is_one_number(op)) return found;
  const auto test = [&](const char* name, const auto& content) {
    if (passes_as(expected, problem, state, tolerance, elements, content)) found.emplace_back(name);
  };
  const auto filled = [](std::byte byte) {
    return [byte](std::size_t, std::size_t count) { return std::vector<std::byte>(count, byte); };
  };
  test("poison", filled(poison));
  if (op.signature.is_constant) return found;
  test("zeros", filled(std::byte{0}));
  if (!many) return found;

  // Returns the content of a tensor read from `offset` bytes on.
  const auto moved = [](std::span<const std::byte> all, std::size_t offset) {
    return [all, offset](std::size_t first, std::size_t count) {
      std::vector<std::byte> part(count);
      for (std::size_t i = 0; i < count; ++i) part[i] = all[(first + offset + i) % all.size()];
      return part;
    };
  };
  if (is_floating(output_dtype(op))) {
    test("their mean", [&](std::size_t first, std::size_t count) {
      const auto mean = mean_of(right.subspan(first, count), output_dtype(op));
      std::vector<std::byte> part(count);
      for (std::size_t i = 0; i < count; ++i) part[i] = mean[i % mean.size()];
      return part;
    });
  }
  const std::vector<HostTensor>& inputs = problem.ranks[static_cast<std::size_t>(problem.of_rank)];
  const bool alike = !inputs.empty() && inputs[0].bytes().size() == right.size() &&
                     inputs[0].spec().dtype == output_dtype(op);
  const bool is_root = collective_of(op) == Collective::broadcast && root_of(op) == problem.of_rank;
  if (alike && !op.signature.is_copy && !is_root) test("input 0", moved(inputs[0].bytes(), 0));
  test("the output shifted by an element", moved(right, size_bytes(output_dtype(op))));
  return found;
}

}  // namespace assay::oracle
