#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "emulator/runtime/scheduler.h"

namespace emulator {

/// One piece of work of a graph. Each launch runs a copy of `step`.
struct Node {
  std::string name;
  WorkStep step;
  std::set<std::size_t> after;  // indices of earlier nodes
};

/// A sequence of calls that one or more streams record instead of running them.
struct Capture {
  cudaStreamCaptureMode mode;
  std::thread::id thread;
  const Queue* origin;  // of the stream that began it
  std::vector<Node> nodes = {};
  bool is_invalid = false;
  bool has_ended = false;  // events that it recorded still belong to it
};

/// How a stream or an event takes part in a capture: what it stands behind.
struct CaptureFront {
  std::shared_ptr<Capture> capture;  // null: takes no part
  std::set<std::size_t> nodes;
};

/// Makes the capture useless, as each forbidden call does. Returns `error`.
cudaError_t invalidate(Capture& capture, cudaError_t error);

/// Adds a node behind `front`, which moves on to it.
cudaError_t record(CaptureFront& front, std::string name, WorkStep step);

/// The mode of the calling thread: how far captures forbid it potentially unsafe calls.
cudaStreamCaptureMode& thread_capture_mode();

/// Refuses a potentially unsafe call, by the rules of cudaThreadExchangeStreamCaptureMode.
cudaError_t refuse_in_capture(const std::set<std::shared_ptr<Capture>>& captures);

/// Refuses a call that waits for `stream` or uses its state, while it captures.
cudaError_t refuse_if_capturing(const CaptureFront& front);

}  // namespace emulator
