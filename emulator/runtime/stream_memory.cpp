#include <memory>
#include <utility>

#include "emulator/runtime/streams.h"

// Memory that streams allocate and free. Its address is known at once; it may be used from where
// the stream has come to the allocation, to where it comes to the free.
namespace emulator {
namespace {

/// Address and bytes of the pool, or 0. Frees that are still to run do not keep memory from new
/// allocations: a real pool lets them have it, or waits.
std::uintptr_t take(Process& p, Lock& lock, Pool& pool, std::size_t bytes) {
  const int gpu = p.devices.gpu(pool.device);
  for (const bool has_waited : {false, true}) {
    if (has_waited) wait_for_device(p, lock, pool.device);
    if (!pool.take(bytes)) continue;
    const std::uintptr_t address = p.memory.allocate_pooled(gpu, bytes, pool.users);
    if (address != 0) return address;
    pool.give_back(bytes);
  }
  return 0;
}

/// An allocation node: the graph has the memory, not the pool.
cudaError_t record_allocation(Process& p, Stream& stream, const Pool& pool, std::size_t bytes,
                              void** memory) {
  const std::uintptr_t address =
      p.memory.allocate_pooled(p.devices.gpu(pool.device), bytes, pool.users);
  if (address == 0) return cudaErrorMemoryAllocation;
  const auto graph_memory = std::make_shared<GraphMemory>(p.memory, address);
  std::erase_if(p.pools.graph_memories, [](const auto& entry) { return entry.second.expired(); });
  p.pools.graph_memories[address] = graph_memory;
  *memory = reinterpret_cast<void*>(address);
  Work work{"cudaMallocAsync", [graph_memory] {
              graph_memory->begin();
              return Progress::done;
            }};
  cudaMemAllocNodeParams parameters{};
  parameters.poolProps.allocType = cudaMemAllocationTypePinned;
  parameters.poolProps.location.type = cudaMemLocationTypeDevice;
  parameters.poolProps.location.id = pool.device;
  parameters.bytesize = bytes;
  parameters.dptr = *memory;
  work.node = std::make_shared<NodeDetails>(NodeDetails{cudaGraphNodeTypeMemAlloc, parameters});
  return submit(p, stream, std::move(work));
}

cudaError_t allocate(void** memory, std::size_t bytes, const cudaMemPool_t* pool_handle,
                     cudaStream_t handle) {
  return call(Wants::context, [&](Process& p, Lock& lock) {
    const auto stream = find_stream(p, handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (memory == nullptr) return cudaErrorInvalidValue;
    const auto pool =
        p.pools.all.find(pool_handle == nullptr ? current_pool(p, stream->device) : *pool_handle);
    if (pool == nullptr) return cudaErrorInvalidValue;
    *memory = nullptr;
    if (bytes == 0) return cudaSuccess;
    if (stream->front.capture != nullptr)
      return record_allocation(p, *stream, *pool, bytes, memory);
    const std::uintptr_t address = take(p, lock, *pool, bytes);
    if (address == 0) return cudaErrorMemoryAllocation;
    const cudaError_t error = submit(p, *stream, {"cudaMallocAsync", [&p, address] {
                                                    p.memory.set_ready(address, true);
                                                    return Progress::done;
                                                  }});
    if (error != cudaSuccess) {
      p.memory.release(address);
      pool->give_back(bytes);
      return error;
    }
    p.pools.memories[address] = {bytes, pool};
    *memory = reinterpret_cast<void*>(address);
    return cudaSuccess;
  });
}

/// Ends memory while work runs. What comes to lie there later has nothing to do with its uses.
void end_memory(Process& p, std::uintptr_t address) {
  const auto allocation = p.memory.find(address);
  p.memory.release(address);
  const Lock lock(p.mutex);
  if (allocation) p.scheduler.memory_uses().forget(address, allocation->bytes);
}

/// The free of memory as work of a stream. Null: nothing begins at the address that a stream may
/// free.
WorkStep free_step(Process& p, std::uintptr_t address, bool is_captured) {
  if (const auto graph_memory = p.pools.graph_memory(address)) {
    return [graph_memory] {
      graph_memory->end();
      return Progress::done;
    };
  }
  if (is_captured) return nullptr;  // "must be passed the address of a graph allocation"
  if (const auto found = p.pools.memories.find(address); found != p.pools.memories.end()) {
    return [&p, address, memory = found->second] {
      end_memory(p, address);
      memory.pool->give_back(memory.bytes);
      return Progress::done;
    };
  }
  if (!p.allocations.contains(address)) return nullptr;
  return [&p, address] {
    end_memory(p, address);
    return Progress::done;
  };
}

}  // namespace
}  // namespace emulator

using namespace emulator;

cudaError_t cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t stream) {
  return allocate(memory, bytes, nullptr, stream);
}

cudaError_t cudaMallocFromPoolAsync(void** memory, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return allocate(memory, bytes, &pool, stream);
}

cudaError_t cudaFreeAsync(void* memory, cudaStream_t handle) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto stream = find_stream(p, handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (memory == nullptr) return cudaSuccess;
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    const bool is_captured = stream->front.capture != nullptr;
    WorkStep step = free_step(p, address, is_captured);
    if (step == nullptr) return cudaErrorInvalidValue;
    Work work{"cudaFreeAsync", std::move(step)};
    work.node = std::make_shared<NodeDetails>(NodeDetails{cudaGraphNodeTypeMemFree, memory});
    const cudaError_t error = submit(p, *stream, std::move(work));
    if (error == cudaSuccess && !is_captured) {
      p.pools.memories.erase(address);
      p.allocations.erase(address);
    }
    return error;
  });
}
