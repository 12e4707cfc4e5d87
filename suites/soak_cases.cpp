#include "suites/soak_cases.h"

#include <algorithm>
#include <string>

namespace assay {
namespace {

/// A chain of copies holds many arrays: together they exceed the caches, and each may be smaller
/// than one that measures a limit.
constexpr std::int64_t arrays_per_limit = 4;

/// Terms of each sum in extents of the output. Matrix units are so fast that the comparison of a
/// square product would take a good part of the time.
constexpr std::int64_t deep = 4;

std::string product_of_extent(std::string_view dtype, std::int64_t extent, std::int64_t depth = 1) {
  const std::string n = std::to_string(extent);
  return "linear/" + std::string(dtype) + "/batch=" + n + ",in=" + std::to_string(depth * extent) +
         ",out=" + n + ",bias=0,act=none";
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
  add(product_of_extent("f32", extent));
  add("limits/stream_copy/f64/n=" + std::to_string(bytes / 8));
  add(product_of_extent("bf16", extent, deep));
  add("transfers/device_memcpy/u8/from=pinned,to=device,bytes=" + std::to_string(bytes) +
      ",by=engine");
  add(product_of_extent("f64", extent));
  return cases;
}

}  // namespace assay
