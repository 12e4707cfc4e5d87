#include "suites/limit_cases.h"

#include <algorithm>

namespace assay {
namespace {

constexpr std::int64_t mib = 1 << 20;

/// Each array is four times the last cache, as STREAM asks for.
constexpr std::int64_t caches_per_array = 4;

/// What a backend's devices need to be busy for much longer than a launch takes to begin.
struct Sizes {
  std::int64_t array_bytes = 0;
  std::vector<std::int64_t> extents;  // of square products
};

Sizes sizes_of(std::string_view backend) {
  if (backend == "cuda") return {512 * mib, {4096, 8192}};
  if (backend == "cpu") return {128 * mib, {1024, 2048}};
  return {mib, {128}};  // of a simulated device nobody wants to know
}

std::string product_id(DType dtype, std::int64_t extent) {
  const std::string n = std::to_string(extent);
  return "linear/" + std::string(name(dtype)) + "/batch=" + n + ",in=" + n + ",out=" + n +
         ",bias=0,act=none";
}

}  // namespace

std::vector<LimitCase> limit_cases(std::string_view backend, std::int64_t last_level_cache_bytes) {
  const Sizes sizes = sizes_of(backend);
  std::vector<LimitCase> cases;
  const auto add = [&](const std::string& limit, const std::string& id) {
    Case test = parse_case_id(id);
    if (applies_to(test.op, backend)) cases.push_back({limit, std::move(test)});
  };
  const bool is_machine = backend != "sim";
  const std::int64_t bytes = std::max(
      sizes.array_bytes, is_machine ? caches_per_array * last_level_cache_bytes : std::int64_t{0});
  const std::string n = std::to_string(bytes / 8);
  // The first trial of a process works in memory that is new to it, and slower: the one that takes
  // most of it goes first.
  add("memory_triad", "limits/stream_triad/f64/n=" + n);
  add("memory_read", "limits/stream_read/i64/n=" + n);
  add("memory_write", "limits/stream_write/f64/n=" + n);
  add("memory_copy", "limits/stream_copy/f64/n=" + n);
  for (const DType dtype : find_op("linear")->dtypes) {
    for (const std::int64_t extent : sizes.extents) {
      add("matrix_" + std::string(name(dtype)), product_id(dtype, extent));
    }
  }
  const std::string size = std::to_string(sizes.array_bytes);
  add("link_to_device",
      "transfers/device_memcpy/u8/from=pinned,to=device,bytes=" + size + ",by=engine");
  add("link_from_device",
      "transfers/device_memcpy/u8/from=device,to=pinned,bytes=" + size + ",by=engine");
  add("launch", "limits/stream_write/f64/n=1");
  return cases;
}

}  // namespace assay
