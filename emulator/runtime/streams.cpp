#include "emulator/runtime/streams.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace emulator {
namespace {

// Those of recent GPUs. The scheduler draws an order of streams, whatever their priorities.
constexpr int least_priority = 0;
constexpr int greatest_priority = -5;

/// Refuses use of the legacy default stream of a device while a blocking stream of it captures.
cudaError_t refuse_legacy_use(Process& p, int device) {
  cudaError_t error = cudaSuccess;
  for (const auto& [handle, stream] : p.streams.all()) {
    if (stream->device != device || !stream->is_blocking || stream->front.capture == nullptr) {
      continue;
    }
    error = invalidate(*stream->front.capture, cudaErrorStreamCaptureImplicit);
  }
  return error;
}

}  // namespace

Stream& legacy_stream(Process& p, int device) {
  std::shared_ptr<Stream>& stream = p.legacy_streams[device];
  if (stream == nullptr) {
    stream = std::make_shared<Stream>(
        Stream{device, true, false, p.scheduler.make_queue(device, false)});
  }
  return *stream;
}

std::shared_ptr<Stream> find_stream(Process& p, cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy) {
    legacy_stream(p, current_device());
    return p.legacy_streams[current_device()];
  }
  return p.streams.find(handle);
}

cudaError_t submit(Process& p, Stream& stream, Work work, TicketPointer* ticket) {
  if (ticket != nullptr) *ticket = nullptr;
  if (stream.front.capture != nullptr) {
    return record(stream.front, std::move(work));
  }
  if (stream.is_legacy) {
    if (const cudaError_t error = refuse_legacy_use(p, stream.device); error != cudaSuccess) {
      return error;
    }
    std::ranges::copy(p.scheduler.newest([&](const Queue& queue) {
      return queue.device == stream.device && queue.is_blocking;
    }),
                      std::back_inserter(work.after));
  } else if (stream.is_blocking) {
    work.after.push_back(legacy_stream(p, stream.device).queue->last());
  }
  const TicketPointer made = p.scheduler.enqueue(*stream.queue, std::move(work));
  if (ticket != nullptr) *ticket = made;
  return cudaSuccess;
}

void wait_for(Process& p, Lock& lock, const std::vector<TicketPointer>& tickets) {
  p.scheduler.run_until(lock, [&] {
    return std::ranges::all_of(
        tickets, [](const TicketPointer& ticket) { return ticket == nullptr || ticket->is_done; });
  });
  p.scheduler.know(tickets);
}

void wait_for_device(Process& p, Lock& lock, int device) {
  wait_for(p, lock, p.scheduler.newest([&](const Queue& queue) { return queue.device == device; }));
}

namespace {

cudaError_t create_stream(cudaStream_t* handle, unsigned flags, int priority = least_priority) {
  return call(Wants::context, [&](Process& p, Lock&) {
    if (handle == nullptr || (flags & ~unsigned{cudaStreamNonBlocking}) != 0) {
      return cudaErrorInvalidValue;
    }
    const int device = current_device();
    const bool is_blocking = (flags & cudaStreamNonBlocking) == 0;
    const auto stream = std::make_shared<Stream>(
        Stream{device, false, is_blocking, p.scheduler.make_queue(device, is_blocking)});
    stream->priority = clamped_priority(priority);
    *handle = p.streams.add(stream);
    return cudaSuccess;
  });
}

/// Refuses to wait for a stream, or to ask for its state, where capture forbids that.
cudaError_t refuse_wait(Process& p, const Stream& stream) {
  if (const cudaError_t error = refuse_if_capturing(stream.front); error != cudaSuccess) {
    return error;
  }
  return stream.is_legacy ? refuse_legacy_use(p, stream.device) : cudaSuccess;
}

/// Calls `body` with the stream of a handle, or refuses.
template <class Body>
cudaError_t with_waitable_stream(cudaStream_t handle, const Body& body) {
  return call(Wants::context, [&](Process& p, Lock& lock) {
    const auto stream = find_stream(p, handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = refuse_wait(p, *stream); error != cudaSuccess) return error;
    if (const cudaError_t error = refuse_in_capture(p.captures); error != cudaSuccess) return error;
    return body(p, lock, *stream);
  });
}

}  // namespace

int clamped_priority(int priority) {
  return std::clamp(priority, greatest_priority, least_priority);
}

}  // namespace emulator

using namespace emulator;

cudaError_t cudaStreamCreate(cudaStream_t* handle) {
  return create_stream(handle, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* handle, unsigned flags) {
  return create_stream(handle, flags);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call(Wants::context, [&](Process&, Lock&) {
    if (least != nullptr) *least = least_priority;
    if (greatest != nullptr) *greatest = greatest_priority;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* handle, unsigned flags, int priority) {
  return create_stream(handle, flags, priority);
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto stream = p.streams.find(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    // A stream that has joined a capture may end before the capture does.
    const auto& capture = stream->front.capture;
    if (capture != nullptr && capture->origin == stream->queue.get())
      return refuse_if_capturing(stream->front);
    p.streams.remove(handle);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return with_waitable_stream(handle, [](Process& p, Lock& lock, Stream& stream) {
    wait_for(p, lock, {stream.queue->last()});
    trim_pools(p);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return with_waitable_stream(handle, [](Process& p, Lock& lock, Stream& stream) {
    const std::shared_ptr<Queue> queue = stream.queue;
    p.scheduler.run_some(lock);
    if (!queue->is_idle()) return cudaErrorNotReady;
    p.scheduler.know({queue->last()});
    return cudaSuccess;
  });
}

/// The driver has it from CUDA 12.8 on: cudaTypedefs.h, PFN_cuStreamGetDevice_v12080.
cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  return call(Wants::context, [&](Process& p, Lock&) {
    if (driver_version() < 12080) return cudaErrorCallRequiresNewerDriver;
    const auto stream = find_stream(p, handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = stream->device;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call(Wants::context, [](Process& p, Lock& lock) {
    const int device = current_device();
    cudaError_t error = cudaSuccess;
    for (const auto& [handle, stream] : p.streams.all()) {
      if (stream->device != device) continue;
      if (const cudaError_t refusal = refuse_if_capturing(stream->front); refusal != cudaSuccess) {
        error = refusal;
      }
    }
    if (error == cudaSuccess) error = refuse_in_capture(p.captures);
    if (error == cudaSuccess) {
      wait_for_device(p, lock, device);
      trim_pools(p);
    }
    return error;
  });
}
