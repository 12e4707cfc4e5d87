#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>

#include "emulator/machine/memory.h"
#include "emulator/runtime/advice.h"
#include "emulator/runtime/allocations.h"
#include "emulator/runtime/arrays.h"
#include "emulator/runtime/devices.h"
#include "emulator/runtime/errors.h"
#include "emulator/runtime/graph.h"
#include "emulator/runtime/handles.h"
#include "emulator/runtime/objects.h"
#include "emulator/runtime/pools.h"
#include "emulator/runtime/reports.h"
#include "emulator/runtime/scheduler.h"

namespace emulator {

struct LoadedModule;  // driver_modules.h

/// CUDA's state of a process. Made by its first call that needs a device, from the environment,
/// and never destroyed: calls come after the end of main too.
struct Process {
  Process();

  std::mutex mutex;  // for all that follows; work runs without it
  Settings settings;
  Devices devices;
  Memory memory;
  Reports reports;
  Scheduler scheduler;

  std::map<int, std::shared_ptr<Stream>> legacy_streams;  // by device, made when first used
  std::map<int, std::shared_ptr<Queue>> all_work;  // by device: of events that record a context
  Handles<cudaStream_t, Stream> streams;
  Handles<cudaEvent_t, Event> events;
  Handles<cudaGraph_t, Graph> graphs;
  Handles<cudaGraphNode_t, GraphNode> graph_nodes;  // those that the program has asked for
  Handles<cudaGraphExec_t, ExecutableGraph> executable_graphs;
  std::set<std::shared_ptr<Capture>> captures;
  std::map<std::uintptr_t, int> allocations;  // addresses of live device memory, and their devices
  PinnedMemories pinned;
  ManagedMemories managed_memories;
  AdviceMap advice;
  Pools pools;
  Handles<cudaArray_t, Array> arrays;
  Handles<cudaMipmappedArray_t, MipmappedArray> mipmapped_arrays;
  Handles<void*, LoadedModule> loaded_modules;
  // Replaced by each change: launches keep theirs.
  std::shared_ptr<const ImageObjects> images = std::make_shared<const ImageObjects>();
  std::map<int, DeviceHeap> heaps;  // by device: made by the first launch
  DeviceHeap& heap_of(int device);
  // Of live texture and surface objects, as the program gave them.
  std::map<cudaTextureObject_t, TextureDescription> textures;
  std::map<cudaSurfaceObject_t, cudaResourceDesc> surfaces;
  std::set<std::pair<int, int>> peers;  // devices: the first may use the memory of the second

  std::map<int, unsigned> device_flags;        // by device
  std::map<int, cudaFuncCache> cache_configs;  // by device
  std::set<int> primary_contexts;              // devices that calls have used
  std::set<int> contexts;                      // GPUs that an exclusive process has taken

  std::map<std::pair<int, cudaLimit>, std::size_t> limits;  // by device: those that were set
  std::size_t stack_bytes(int device) const;                // of a thread

  // A lost GPU, from ASSAY_EMULATOR_LOST=GPU@CALLS.
  int lost_gpu = -1;
  long calls_until_lost = 0;
  bool is_lost_at_once = false;

  // A host that stands still before one of so many calls, from ASSAY_EMULATOR_HOST_DELAY.
  double host_delay_s = 0;
  long calls_per_delay = 0;
  std::mt19937_64 delays;
};

Process& process();
/// Whether the program has called the runtime.
bool was_called();

/// Tells the fault, and makes its error that of all later calls unless the process is to go on.
/// Wants the lock.
void stick(Process& process, const Fault& fault);

/// The calling thread's device ordinal; its GPU. There must be a device.
int& current_device();
int current_gpu(const Process& process);

/// Takes the GPU for this process. Returns false if its compute mode admits one process, and
/// another has it.
bool has_context(Process& process, int gpu);

/// Conditions of a call.
enum class Wants {
  devices,  // at least one, and no sticky error
  context,  // that the current device lives, too
  safety,   // that no stream captures for which the call is potentially unsafe, too
};

/// Does what all calls do: refuses after a sticky error and in a process forked from one that uses
/// CUDA, and keeps the error for cudaGetLastError.
cudaError_t call(Wants wants, const std::function<cudaError_t(Process&, Lock&)>& body);

}  // namespace emulator
