#include "suites/limit_cases.h"

#include <algorithm>
#include <string>

namespace assay {
namespace {

/// Size of each array in last-level caches. STREAM demands four.
constexpr std::int64_t caches_per_array = 4;

/// The largest case has three arrays, and takes a fourth of the memory at most.
constexpr std::int64_t arrays_in_memory = 3 * 4;

/// Smaller products take about as long as an empty launch.
constexpr std::int64_t min_extent = 512;

Case product_of(Format format, std::int64_t extent, std::int64_t depth) {
  const std::string n = std::to_string(extent);
  return parse_case_id("linear/" + std::string(name(format)) + "/batch=" + n +
                       ",in=" + std::to_string(depth * extent) + ",out=" + n + ",bias=0,act=none");
}

/// Case of a function whose tensors leave room in the last-level cache: timed launches take several
/// of them in turns.
Case function_in_cache(const Op& op, Format format, std::int64_t cache_bytes) {
  constexpr double tensors_in_cache = 8;
  const std::string id =
      "tensor_ops/" + std::string(op.name) + "/" + std::string(name(format)) + "/n=";
  const double bytes = parse_case_id(id + "1").op.signature.bytes;
  const double n = static_cast<double>(cache_bytes) / tensors_in_cache / bytes;
  return parse_case_id(id + std::to_string(static_cast<std::int64_t>(n)));
}

}  // namespace

std::int64_t array_bytes_for(const BackendTraits& backend, const Room& room) {
  std::int64_t bytes = backend.limits.array_bytes;
  if (backend.memory != MemorySpace::device || !room.memory_bytes) return bytes;
  while (bytes > 8 && arrays_in_memory * bytes > *room.memory_bytes) bytes /= 2;
  return bytes;
}

Case product_for(Format format, std::int64_t extent, std::int64_t depth, const Room& room) {
  Case test = product_of(format, extent, depth);
  while (extent > min_extent && room.is_too_slow && room.is_too_slow(test.op)) {
    extent /= 2;
    test = product_of(format, extent, depth);
  }
  return test;
}

std::vector<LimitCase> limit_cases(const BackendTraits& backend, const Room& room) {
  const LimitSizes& sizes = backend.limits;
  std::vector<LimitCase> cases;
  if (sizes.array_bytes == 0) return cases;
  const auto add = [&](LimitKind limit, Case test) {
    if (!applies_to(test.op, backend)) return;
    const auto is_it = [&](const LimitCase& one) {
      return one.limit == limit && one.test.id() == test.id();
    };
    if (std::ranges::none_of(cases, is_it)) cases.push_back({limit, std::move(test)});
  };
  const std::int64_t array_bytes = array_bytes_for(backend, room);
  const std::int64_t caches_bytes = caches_per_array * room.last_level_cache_bytes;
  const std::int64_t bytes = std::max(array_bytes, sizes.exceed_caches ? caches_bytes : 0);
  const std::string n = std::to_string(bytes / 8);
  // The first trial of a process works in new memory, which is slower: the trial that needs most of
  // it goes first.
  add({Resource::memory_triad}, parse_case_id("limits/stream_triad/f64/n=" + n));
  add({Resource::memory_read}, parse_case_id("limits/stream_read/i64/n=" + n));
  add({Resource::memory_write}, parse_case_id("limits/stream_write/f64/n=" + n));
  add({Resource::memory_copy}, parse_case_id("limits/stream_copy/f64/n=" + n));
  for (const Format format : find_op("linear")->formats) {
    for (const std::int64_t extent : sizes.matrix_extents) {
      add({Resource::matrix, format}, product_for(format, extent, 1, room));
    }
  }
  const std::string copies = "transfers/device_memcpy/u8/from=";
  const std::string size = ",bytes=" + std::to_string(array_bytes) + ",by=engine";
  add({Resource::link_to_device}, parse_case_id(copies + "pinned,to=device" + size));
  add({Resource::link_from_device}, parse_case_id(copies + "device,to=pinned" + size));
  if (sizes.functions_in_caches && room.last_level_cache_bytes > 0) {
    for (const Op& op : op_table()) {
      if (!op.evaluates_function) continue;
      for (const Format format : op.formats) {
        add({Resource::function, format, std::string(op.name)},
            function_in_cache(op, format, room.last_level_cache_bytes));
      }
    }
  }
  add({Resource::launch}, parse_case_id("limits/stream_write/f64/n=1"));
  return cases;
}

}  // namespace assay
