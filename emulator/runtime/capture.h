#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <set>
#include <thread>

#include "emulator/runtime/graph.h"
#include "emulator/runtime/scheduler.h"

namespace emulator {

/// A sequence of calls that one or more streams record instead of running them.
struct Capture {
  cudaStreamCaptureMode mode;
  std::thread::id thread;
  const Queue* origin;  // of the stream that began it
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  std::size_t first = 0;  // of its nodes in the graph, which may have had others before
  bool is_invalid = false;
  bool has_ended = false;  // events that it recorded still belong to it
  std::uint64_t id = next_id();

  static std::uint64_t next_id() {
    static std::uint64_t last = 0;  // wants the runtime's lock
    return ++last;
  }
};

/// How a stream or an event takes part in a capture: what it stands behind.
struct CaptureFront {
  std::shared_ptr<Capture> capture;  // null: takes no part
  NodeSet nodes;
};

/// Makes the capture useless, as each forbidden call does. Returns `error`.
cudaError_t invalidate(Capture& capture, cudaError_t error);

/// Adds a node behind `front`, which moves on to it.
cudaError_t record(CaptureFront& front, Work work);

/// The mode of the calling thread: how far captures forbid it potentially unsafe calls.
cudaStreamCaptureMode& thread_capture_mode();

/// Refuses a potentially unsafe call, by the rules of cudaThreadExchangeStreamCaptureMode.
cudaError_t refuse_in_capture(const std::set<std::shared_ptr<Capture>>& captures);

/// Refuses a call that waits for `stream` or uses its state, while it captures.
cudaError_t refuse_if_capturing(const CaptureFront& front);

}  // namespace emulator
