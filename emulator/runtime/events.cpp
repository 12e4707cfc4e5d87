#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "emulator/runtime/graph_work.h"
#include "emulator/runtime/streams.h"

namespace emulator {
namespace {

Work marker(const char* call, std::vector<TicketPointer> after = {}) {
  return {call, [] { return Progress::done; }, std::move(after), true};
}

/// Whether events must have timed something: no rule of CUDA, but one of who measures by them.
bool is_strict() {
  static const char* const strict = std::getenv("ASSAY_EMULATOR_STRICT_TIMES");
  return strict != nullptr && std::strcmp(strict, "1") == 0;
}

/// Says why the interval between two events is no time of work. Empty if it may be one.
std::string problem_of(const Event& start, const Event& end) {
  const auto queue = start.position.queue.lock();
  const auto queue_of_end = end.position.queue.lock();
  if (queue == nullptr || queue_of_end == nullptr) return "";  // a stream has ended since
  if (queue != queue_of_end) {
    return "the events were recorded on different streams";
  }
  const WorkCount& others = end.position.others;
  const bool is_empty = start.position.own.enqueued == end.position.own.enqueued;
  const bool others_run = others.done < others.enqueued;  // the host has not waited for them
  if (is_empty && others_run && start.position.others.enqueued != others.enqueued) {
    return "the work between the events is on other streams than theirs";
  }
  return "";
}

cudaError_t create_event(cudaEvent_t* handle, unsigned flags) {
  return call(Wants::context, [&](Process& p, Lock&) {
    constexpr unsigned known = cudaEventBlockingSync | cudaEventDisableTiming;
    if (handle == nullptr || (flags & ~known) != 0) return cudaErrorInvalidValue;
    *handle = p.events.add(
        std::make_shared<Event>(Event{current_device(), (flags & cudaEventDisableTiming) == 0}));
    return cudaSuccess;
  });
}

/// Calls `body` with an event that capture allows to be waited for.
template <class Body>
cudaError_t with_waitable_event(cudaEvent_t handle, const Body& body) {
  return call(Wants::context, [&](Process& p, Lock& lock) {
    const auto event = p.events.find(handle);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    if (event->front.capture != nullptr) {
      return invalidate(*event->front.capture, cudaErrorCapturedEvent);
    }
    if (const cudaError_t error = refuse_in_capture(p.captures); error != cudaSuccess) return error;
    return body(p, lock, *event);
  });
}

/// Lets a capturing stream depend on an event, or fork it from the capture of the event.
cudaError_t wait_in_capture(Stream& stream, const Event& event) {
  if (stream.front.capture != nullptr && stream.front.capture->is_invalid) {
    return cudaErrorStreamCaptureInvalidated;
  }
  if (event.front.capture != nullptr && event.front.capture->has_ended) {
    return cudaErrorCapturedEvent;
  }
  if (event.front.capture == nullptr) {
    return invalidate(*stream.front.capture, cudaErrorStreamCaptureIsolation);
  }
  if (event.front.capture->is_invalid) return cudaErrorStreamCaptureInvalidated;
  if (stream.is_legacy) return invalidate(*event.front.capture, cudaErrorStreamCaptureImplicit);
  if (stream.front.capture == nullptr) {
    stream.front = event.front;
    return cudaSuccess;
  }
  if (stream.front.capture != event.front.capture) {
    invalidate(*stream.front.capture, cudaErrorStreamCaptureMerge);
    return invalidate(*event.front.capture, cudaErrorStreamCaptureMerge);
  }
  stream.front.nodes.insert(event.front.nodes.begin(), event.front.nodes.end());
  return cudaSuccess;
}

/// Makes the record of an event, or the wait for one, a node of the graph that is captured.
cudaError_t record_event_node(Process& p, Stream& stream, cudaGraphNodeType type,
                              cudaEvent_t event) {
  Work work;
  const cudaError_t error = make_event_work(p, type, event, work);
  return error == cudaSuccess ? record(stream.front, std::move(work)) : error;
}

}  // namespace
}  // namespace emulator

using namespace emulator;

cudaError_t cudaEventCreate(cudaEvent_t* handle) { return create_event(handle, cudaEventDefault); }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* handle, unsigned flags) {
  return create_event(handle, flags);
}

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  return call(Wants::context, [&](Process& p, Lock&) {
    return p.events.remove(handle) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t handle, cudaStream_t stream_handle,
                                     unsigned flags) {
  return call(Wants::context, [&](Process& p, Lock&) {
    if (flags != cudaEventRecordDefault && flags != cudaEventRecordExternal)
      return cudaErrorInvalidValue;
    const auto event = p.events.find(handle);
    const auto stream = find_stream(p, stream_handle);
    if (event == nullptr || stream == nullptr || event->device != stream->device) {
      return cudaErrorInvalidResourceHandle;
    }
    if (stream->front.capture != nullptr) {
      if (stream->front.capture->is_invalid) return cudaErrorStreamCaptureInvalidated;
      if (flags == cudaEventRecordExternal)
        return record_event_node(p, *stream, cudaGraphNodeTypeEventRecord, handle);
      event->front = stream->front;
      event->ticket = nullptr;
      return cudaSuccess;
    }
    TicketPointer ticket;
    const cudaError_t error = submit(p, *stream, marker("cudaEventRecord"), &ticket);
    if (error != cudaSuccess) return error;
    const std::shared_ptr<Queue>& queue = stream->queue;
    // Work of blocking streams between two events of the default stream is ordered with both.
    event->position = {queue, queue->count(),
                       p.scheduler.count_of_others(*queue, !stream->is_legacy)};
    event->ticket = std::move(ticket);
    event->front = {};
    return cudaSuccess;
  });
}

// Calls of the driver's library, whose stand-in links with this one. A context is its device's
// number and 1.
extern "C" int cuStreamGetCtx(cudaStream_t handle, void** context) {
  const cudaError_t error = call(Wants::context, [&](Process& p, Lock&) {
    const auto stream = find_stream(p, handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    *context = reinterpret_cast<void*>(static_cast<std::uintptr_t>(stream->device) + 1);
    return cudaSuccess;
  });
  return error == cudaSuccess ? 0 : 400;
}

extern "C" int cuCtxRecordEvent(void* context, cudaEvent_t handle) {
  const cudaError_t error = call(Wants::context, [&](Process& p, Lock&) {
    const auto event = p.events.find(handle);
    const int device = static_cast<int>(reinterpret_cast<std::uintptr_t>(context)) - 1;
    if (event == nullptr || event->device != device) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t refused = refuse_in_capture(p.captures); refused != cudaSuccess)
      return refused;
    std::shared_ptr<Queue>& queue = p.all_work[device];
    if (queue == nullptr) queue = p.scheduler.make_queue(device, false);
    event->ticket = p.scheduler.enqueue(
        *queue, marker("cuCtxRecordEvent", p.scheduler.newest([&](const Queue& other) {
          return other.device == device;
        })));
    event->position = {queue, queue->count(), p.scheduler.count_of_others(*queue)};
    event->front = {};
    return cudaSuccess;
  });
  return error == cudaSuccess ? 0 : 400;  // CUDA_ERROR_INVALID_HANDLE
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream_handle, cudaEvent_t handle, unsigned flags) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto event = p.events.find(handle);
    const auto stream = find_stream(p, stream_handle);
    if (event == nullptr || stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (flags != cudaEventWaitDefault && flags != cudaEventWaitExternal)
      return cudaErrorInvalidValue;
    if (flags == cudaEventWaitExternal && stream->front.capture != nullptr)
      return record_event_node(p, *stream, cudaGraphNodeTypeWaitEvent, handle);
    const bool is_recorded = event->ticket != nullptr || event->front.capture != nullptr;
    if (!is_recorded) return cudaSuccess;
    if (stream->front.capture != nullptr || event->front.capture != nullptr) {
      return wait_in_capture(*stream, *event);
    }
    return submit(p, *stream, marker("cudaStreamWaitEvent", {event->ticket}));
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return with_waitable_event(handle, [](Process& p, Lock& lock, const Event& event) {
    wait_for(p, lock, {event.ticket});
    trim_pools(p);
    return cudaSuccess;
  });
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return with_waitable_event(handle, [](Process& p, Lock& lock, const Event& event) {
    const TicketPointer ticket = event.ticket;
    p.scheduler.run_some(lock);
    if (ticket != nullptr && !ticket->is_done) return cudaErrorNotReady;
    p.scheduler.know({ticket});
    return cudaSuccess;
  });
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start_handle, cudaEvent_t end_handle) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto start = p.events.find(start_handle);
    const auto end = p.events.find(end_handle);
    if (ms == nullptr) return cudaErrorInvalidValue;
    if (start == nullptr || end == nullptr || !start->has_time || !end->has_time) {
      return cudaErrorInvalidResourceHandle;
    }
    for (const auto& event : {start, end}) {
      if (event->front.capture != nullptr) {
        return invalidate(*event->front.capture, cudaErrorCapturedEvent);
      }
    }
    // Events of different devices: programming guide, "Stream and Event Behavior" of systems with
    // multiple devices.
    if (start->ticket == nullptr || end->ticket == nullptr || start->device != end->device) {
      return cudaErrorInvalidResourceHandle;
    }
    if (!start->ticket->is_done || !end->ticket->is_done) return cudaErrorNotReady;
    if (const std::string problem = problem_of(*start, *end); is_strict() && !problem.empty()) {
      stick(p, Fault(FaultKind::undefined, "cudaEventElapsedTime: " + problem));
      return cudaSuccess;
    }
    p.scheduler.know({start->ticket, end->ticket});
    const auto elapsed = end->ticket->done_at - start->ticket->done_at;
    *ms = std::chrono::duration<float, std::milli>(elapsed).count();
    return cudaSuccess;
  });
}
