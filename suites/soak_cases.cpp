#include "suites/soak_cases.h"

#include <algorithm>
#include <string>

namespace assay {
namespace {

/// A chain of copies holds many arrays: together they exceed the caches, and each may be smaller
/// than one that measures a limit.
constexpr std::int64_t arrays_per_limit = 4;

std::string square_product_id(std::string_view dtype, std::int64_t extent) {
  const std::string n = std::to_string(extent);
  return "linear/" + std::string(dtype) + "/batch=" + n + ",in=" + n + ",out=" + n +
         ",bias=0,act=none";
}

}  // namespace

std::vector<Case> soak_cases(const BackendTraits& backend) {
  const LimitSizes& sizes = backend.limits;
  std::vector<Case> cases;
  if (sizes.array_bytes == 0 || sizes.matrix_extents.empty()) return cases;
  const auto add = [&](const std::string& id) {
    Case test = parse_case_id(id);
    if (applies_to(test.op, backend)) cases.push_back(std::move(test));
  };
  const std::int64_t extent = *std::ranges::max_element(sizes.matrix_extents);
  const std::int64_t bytes = sizes.array_bytes / arrays_per_limit;
  add(square_product_id("f32", extent));
  add("limits/stream_copy/f64/n=" + std::to_string(bytes / 8));
  add(square_product_id("bf16", extent));
  add("transfers/device_memcpy/u8/from=pinned,to=device,bytes=" + std::to_string(bytes) +
      ",by=engine");
  add(square_product_id("f64", extent));
  return cases;
}

}  // namespace assay
