#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <string>

#include "emulator/machine/machine.h"
#include "emulator/runtime/say.h"

// Part of the runtime for the stand-ins of libraries: to put work on a stream as a kernel is put
// there, and to use device memory. Streams are the runtime's; a captured stream records the work
// into its graph.
namespace emulator {

enum class Step { done, waits };  // waits: try again, after other work or a little later

/// Enqueues work that runs when the stream reaches it. `step` may throw Fault. It is called again
/// until it is done: a collective waits for its other ranks that way. `gpu` is told by the stream.
/// Returns what a launch would.
cudaError_t enqueue(cudaStream_t stream, const std::string& name, std::function<Step()> step);

/// The device (as cudaGetDevice counts it) of a stream.
cudaError_t device_of(cudaStream_t stream, int* device);
/// The physical GPU behind the calling thread's current device, behind a device ordinal, and what
/// it is.
int gpu_of(int device);
const GpuModel& model_of(int gpu);
int gpu_count();                     // physical, before CUDA_VISIBLE_DEVICES
std::string uuid_of(int gpu);        // "GPU-....": the same in every process
std::string slice_uuid_of(int gpu);  // "MIG-....", of its only slice
int pci_bus_of(int gpu);             // domain and device are 0
int version_of_driver();             // 13000 for CUDA 13.0
bool has_mig_slices();               // the process sees slices of GPUs
bool has_multicast(int gpu);  // NVSwitches reduce and multicast for it: Hopper and later, by SXM
std::size_t board_bytes(int gpu);  // memory of a whole GPU, sliced or not
std::size_t others_bytes();        // of each GPU, held by another process

/// Throws Fault(endless) for work that the watchdog of the GPU's display would have ended.
void check_watchdog(const GpuModel& gpu, double time_s, const std::string& what);

Memory& memory();

/// A fault that a library found: it sticks to the context as a kernel's would, and its text is
/// shown once.
void report(const Fault& fault);

}  // namespace emulator
