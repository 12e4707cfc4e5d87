#include "kernels/cpu/topology.h"

#include <hwloc.h>
#include <hwloc/glibc-sched.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>

#include "kernels/core/status.h"
#include "kernels/cpu/all_cores.h"

namespace assay::cpu {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, DestroyTopology>;

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, FreeBitmap>;

/// Nothing of it changes while a process runs.
hwloc_topology_t topology() {
  static const Topology loaded = [] {
    hwloc_topology_t found = nullptr;
    if (hwloc_topology_init(&found) != 0) return Topology();
    Topology owner(found);
    // It would bind this thread to one processor after the other. Linux knows the same.
    hwloc_topology_set_components(found, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    if (hwloc_topology_load(found) != 0) return Topology();
    return owner;
  }();
  if (!loaded) {
    throw DeviceError(Failure::internal, "hwloc cannot read the machine's cores and memory");
  }
  return loaded.get();
}

template <class Visit>
void for_each(hwloc_obj_type_t type, const Visit& visit) {
  for (hwloc_obj_t at = hwloc_get_next_obj_by_type(topology(), type, nullptr); at != nullptr;
       at = hwloc_get_next_obj_by_type(topology(), type, at)) {
    visit(*at);
  }
}

CacheBytes caches_within(hwloc_const_cpuset_t processors) {
  constexpr std::array levels{HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
                              HWLOC_OBJ_L4CACHE};
  CacheBytes bytes;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    for_each(levels[i], [&](const hwloc_obj& cache) {
      if (cache.attr->cache.size == 0 || !hwloc_bitmap_intersects(cache.cpuset, processors)) return;
      bytes[static_cast<int>(i) + 1] += static_cast<std::int64_t>(cache.attr->cache.size);
    });
  }
  return bytes;
}

std::int64_t cores_within(hwloc_const_cpuset_t processors) {
  std::int64_t cores = 0;
  for_each(HWLOC_OBJ_CORE, [&](const hwloc_obj& core) {
    cores += hwloc_bitmap_intersects(core.cpuset, processors);
  });
  return cores > 0 ? cores : hwloc_bitmap_weight(processors);  // some machines tell no cores
}

Bitmap bitmap_of(const cpu_set_t& processors) {
  Bitmap bitmap(hwloc_bitmap_alloc());
  hwloc_cpuset_from_glibc_sched_affinity(topology(), bitmap.get(), &processors, sizeof processors);
  const hwloc_const_cpuset_t known = hwloc_topology_get_topology_cpuset(topology());
  hwloc_bitmap_and(bitmap.get(), bitmap.get(), known);
  return bitmap;
}

/// Keeps one processor of each core.
Bitmap thinned(hwloc_const_cpuset_t processors) {
  Bitmap kept(hwloc_bitmap_dup(processors));
  hwloc_bitmap_singlify_per_core(topology(), kept.get(), 0);
  return kept;
}

std::string list_of(hwloc_const_cpuset_t processors) {
  const int length = hwloc_bitmap_list_snprintf(nullptr, 0, processors);
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  hwloc_bitmap_list_snprintf(text.data(), text.size(), processors);
  text.resize(static_cast<std::size_t>(length));
  return text;
}

}  // namespace

std::vector<MemoryNode> memory_nodes() {
  std::vector<MemoryNode> nodes;
  for_each(HWLOC_OBJ_NUMANODE, [&](const hwloc_obj& node) {
    if (hwloc_bitmap_iszero(node.cpuset)) return;
    nodes.push_back({.number = static_cast<int>(node.os_index),
                     .processors = list_of(thinned(node.cpuset).get()),
                     .cores = cores_within(node.cpuset),
                     .memory_bytes = static_cast<std::int64_t>(node.attr->numanode.local_memory),
                     .caches = caches_within(node.cpuset)});
  });
  std::ranges::sort(nodes, {}, &MemoryNode::number);
  return nodes;
}

bool is_real_topology() { return hwloc_topology_is_thissystem(topology()) != 0; }

CacheBytes cache_bytes() { return caches_within(bitmap_of(usable_processors()).get()); }

std::optional<std::int64_t> last_level(const CacheBytes& caches) {
  if (caches.empty() || caches.rbegin()->first < 2) return std::nullopt;
  return caches.rbegin()->second;
}

std::int64_t cores_among(const cpu_set_t& processors) {
  return cores_within(bitmap_of(processors).get());
}

std::string one_of_each_core() {
  const Bitmap usable = bitmap_of(usable_processors());
  const Bitmap kept = thinned(usable.get());
  return hwloc_bitmap_isequal(usable.get(), kept.get()) ? "" : list_of(kept.get());
}

bool is_bound_to(const MemoryNode& node) {
  const Bitmap of_node(hwloc_bitmap_alloc());
  const Bitmap of_process = bitmap_of(usable_processors());
  return hwloc_bitmap_list_sscanf(of_node.get(), node.processors.c_str()) == 0 &&
         hwloc_bitmap_isincluded(of_process.get(), of_node.get()) != 0;
}

void bind_memory(int node) {
  const Bitmap nodes(hwloc_bitmap_alloc());
  hwloc_bitmap_only(nodes.get(), static_cast<unsigned>(node));
  constexpr int flags = HWLOC_MEMBIND_STRICT | HWLOC_MEMBIND_BYNODESET;
  if (hwloc_set_membind(topology(), nodes.get(), HWLOC_MEMBIND_BIND, flags) == 0) return;
  throw DeviceError(Failure::unsupported, "memory cannot be bound to node " + std::to_string(node) +
                                              ": " + std::strerror(errno));
}

}  // namespace assay::cpu
