#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

#include "emulator/runtime/process.h"

namespace emulator {

/// Returns null for an invalid handle. Null and cudaStreamLegacy are the current device's default
/// stream; the default streams of threads are not emulated.
std::shared_ptr<Stream> find_stream(Process& process, cudaStream_t handle);
Stream& legacy_stream(Process& process, int device);

/// The nearest priority that streams can have.
int clamped_priority(int priority);

/// Enqueues work on a stream, behind all that the rules of default streams put before it, or
/// records it while the stream captures. Sets `ticket`, where given, to null if it was recorded.
cudaError_t submit(Process& process, Stream& stream, Work work, TicketPointer* ticket = nullptr);

/// Runs work until these tickets are done. A fault is left to `call`.
void wait_for(Process& process, Lock& lock, const std::vector<TicketPointer>& tickets);

/// Waits for all work on a device.
void wait_for_device(Process& process, Lock& lock, int device);

}  // namespace emulator
