#include "suites/soak_cases.h"

#include <algorithm>
#include <string>
#include <utility>

#include "suites/limit_cases.h"

namespace assay {
namespace {

/// A chain of copies holds many arrays: together they exceed the caches, and each may be smaller
/// than one that measures a limit.
constexpr std::int64_t arrays_per_limit = 4;

/// Terms of each sum in extents of the output. Matrix units are so fast that the comparison of a
/// square product would take a good part of the time.
constexpr std::int64_t deep = 4;

}  // namespace

std::vector<Case> soak_cases(const BackendTraits& backend, const Room& room) {
  const LimitSizes& sizes = backend.limits;
  std::vector<Case> cases;
  if (sizes.array_bytes == 0 || sizes.matrix_extents.empty()) return cases;
  const auto add = [&](Case test) {
    if (applies_to(test.op, backend)) cases.push_back(std::move(test));
  };
  const std::int64_t extent = *std::ranges::max_element(sizes.matrix_extents);
  const std::int64_t bytes = array_bytes_for(backend, room) / arrays_per_limit;
  add(product_for(DType::f32, extent, 1, room));
  add(parse_case_id("limits/stream_copy/f64/n=" + std::to_string(bytes / 8)));
  add(product_for(DType::bf16, extent, deep, room));
  add(parse_case_id("transfers/device_memcpy/u8/from=pinned,to=device,bytes=" +
                    std::to_string(bytes) + ",by=engine"));
  add(product_for(DType::f64, extent, 1, room));
  return cases;
}

}  // namespace assay
