#pragma once

#include <map>
#include <memory>

#include "emulator/runtime/handles.h"
#include "emulator/runtime/pool.h"

namespace emulator {

/// The memory pools of a process, and what is allocated from them.
struct Pools {
  Handles<cudaMemPool_t, Pool> all;
  std::map<int, cudaMemPool_t> defaults, current;  // by device; made when first used
  std::map<std::uintptr_t, PooledMemory> memories;
  std::map<std::uintptr_t, std::weak_ptr<GraphMemory>> graph_memories;

  /// The graph memory at the address, if it still lives.
  std::shared_ptr<GraphMemory> graph_memory(std::uintptr_t address) const {
    const auto found = graph_memories.find(address);
    return found == graph_memories.end() ? nullptr : found->second.lock();
  }
};

struct Process;

cudaMemPool_t default_pool(Process& process, int device);
cudaMemPool_t current_pool(Process& process, int device);
/// Pools keep less once the host has synchronised.
void trim_pools(Process& process);

}  // namespace emulator
