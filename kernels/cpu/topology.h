#pragma once

#include <sched.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

// The machine's cores, caches and nodes of memory, as hwloc finds them. Its variables apply: in a
// topology of HWLOC_SYNTHETIC or HWLOC_XMLFILE everything but the threads is pretence.
namespace assay::cpu {

using CacheBytes = std::map<int, std::int64_t>;  // by level

/// Memory, and the processors that are nearest to it.
struct MemoryNode {
  int number = 0;          // the system's
  std::string processors;  // "0-47": one of each core
  std::int64_t cores = 0;
  std::int64_t memory_bytes = 0;
  CacheBytes caches;  // those of its processors
};

/// Nodes that have processors, in the order of their numbers. A machine of one socket has one.
std::vector<MemoryNode> memory_nodes();

/// Returns true unless a variable has replaced the topology.
bool is_real_topology();

/// Bytes of each level of caches for data that this process's threads fill: the sum over all caches
/// of the level. Empty if the system does not tell.
CacheBytes cache_bytes();
/// Those of the last level. None if only the first is known.
std::optional<std::int64_t> last_level(const CacheBytes& caches);

/// Number of cores that have a processor in the set. Two processors of one core count once.
std::int64_t cores_among(const cpu_set_t& processors);

/// One processor of each core that this process may use, "0-95". Empty if no core has two.
std::string one_of_each_core();

/// Returns true if this process may use no processors but those of the node.
bool is_bound_to(const MemoryNode& node);

/// Takes all memory that this thread, and threads that it starts, will touch first from the node.
/// Throws DeviceError(unsupported) if the system does not allow it.
void bind_memory(int node);

}  // namespace assay::cpu
