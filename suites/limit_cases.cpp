#include "suites/limit_cases.h"

#include <algorithm>
#include <string>

namespace assay {
namespace {

/// Size of each array in last-level caches. STREAM demands four.
constexpr std::int64_t caches_per_array = 4;

std::string product_id(Format format, std::int64_t extent) {
  const std::string n = std::to_string(extent);
  return "linear/" + std::string(name(format)) + "/batch=" + n + ",in=" + n + ",out=" + n +
         ",bias=0,act=none";
}

}  // namespace

std::vector<LimitCase> limit_cases(const BackendTraits& backend,
                                   std::int64_t last_level_cache_bytes) {
  const LimitSizes& sizes = backend.limits;
  std::vector<LimitCase> cases;
  if (sizes.array_bytes == 0) return cases;
  const auto add = [&](LimitKind limit, const std::string& id) {
    Case test = parse_case_id(id);
    if (applies_to(test.op, backend)) cases.push_back({limit, std::move(test)});
  };
  const std::int64_t bytes =
      std::max(sizes.array_bytes,
               sizes.exceed_caches ? caches_per_array * last_level_cache_bytes : std::int64_t{0});
  const std::string n = std::to_string(bytes / 8);
  // The first trial of a process works in new memory, which is slower: the trial that needs most of
  // it goes first.
  add({Resource::memory_triad}, "limits/stream_triad/f64/n=" + n);
  add({Resource::memory_read}, "limits/stream_read/i64/n=" + n);
  add({Resource::memory_write}, "limits/stream_write/f64/n=" + n);
  add({Resource::memory_copy}, "limits/stream_copy/f64/n=" + n);
  for (const Format format : find_op("linear")->formats) {
    for (const std::int64_t extent : sizes.matrix_extents) {
      add({Resource::matrix, format}, product_id(format, extent));
    }
  }
  const std::string size = std::to_string(sizes.array_bytes);
  add({Resource::link_to_device},
      "transfers/device_memcpy/u8/from=pinned,to=device,bytes=" + size + ",by=engine");
  add({Resource::link_from_device},
      "transfers/device_memcpy/u8/from=device,to=pinned,bytes=" + size + ",by=engine");
  add({Resource::launch}, "limits/stream_write/f64/n=1");
  return cases;
}

}  // namespace assay
