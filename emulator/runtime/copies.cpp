#include <cstring>
#include <iterator>
#include <memory>
#include <set>
#include <vector>

#include "emulator/runtime/copy_sides.h"
#include "emulator/runtime/graph_work.h"
#include "emulator/runtime/streams.h"

// Copies and memsets. How far a call waits follows "API synchronization behavior" in the
// documentation of the runtime, and is as little as it allows.
namespace emulator {
namespace {

/// The copy as work. Pageable memory is read at once, into a buffer like the driver's: the host may
/// change it after the call. A capture keeps the address instead.
Work copy_work(Process& p, const Stream& stream, const Side& to, const Side& from,
               std::size_t bytes, const char* call) {
  const bool is_staged = from.place == Place::pageable && to.place != Place::pageable &&
                         stream.front.capture == nullptr;
  if (!is_staged) {
    Work work{call, [&p, to, from, bytes, call] {
                copy_now(p, to, from, bytes, call);
                return Progress::done;
              }};
    if (stream.front.capture != nullptr) {
      work.node = std::make_shared<NodeDetails>(NodeDetails{
          cudaGraphNodeTypeMemcpy, parameters_of_copy(reinterpret_cast<void*>(to.address),
                                                      reinterpret_cast<const void*>(from.address),
                                                      bytes, cudaMemcpyDefault)});
    }
    return work;
  }
  const auto* begin = reinterpret_cast<const std::byte*>(from.address);
  auto staged = std::make_shared<const std::vector<std::byte>>(begin, begin + bytes);
  return {
      call, [&p, to, staged, call] {
        const Side buffer{reinterpret_cast<std::uintptr_t>(staged->data()), Place::pageable, host};
        copy_now(p, to, buffer, staged->size(), call);
        return Progress::done;
      }};
}

/// A copy between two GPUs in a default stream waits for the default streams of both, and lets both
/// wait: programming guide, "Peer-to-Peer Memory Copy".
void order_between_gpus(Process& p, const Stream& stream, const Side& to, const Side& from,
                        Work& work, std::vector<int>& others) {
  if (!stream.is_legacy) return;
  for (const Side& side : {to, from}) {
    const int device = side.owner < 0 ? stream.device : p.devices.ordinal_of(side.owner);
    if (device == stream.device) continue;
    others.push_back(device);
    const Queue* default_queue = legacy_stream(p, device).queue.get();
    const auto before = p.scheduler.newest([&](const Queue& queue) {
      return queue.device == device && (queue.is_blocking || &queue == default_queue);
    });
    work.after.insert(work.after.end(), before.begin(), before.end());
  }
}

cudaError_t submit_copy(Process& p, Stream& stream, const Side& to, const Side& from,
                        std::size_t bytes, const char* call, TicketPointer& ticket) {
  Work work = copy_work(p, stream, to, from, bytes, call);
  std::vector<int> others;
  order_between_gpus(p, stream, to, from, work, others);
  const cudaError_t error = submit(p, stream, std::move(work), &ticket);
  for (const int device : others) {
    if (error != cudaSuccess) break;
    submit(p, legacy_stream(p, device), {call, [] { return Progress::done; }, {ticket}});
  }
  return error;
}

/// Checks what all copies check. `body` gets both sides.
template <class Body>
cudaError_t checked_copy(Process& p, void* to, const void* from, std::size_t bytes,
                         cudaMemcpyKind kind, const Body& body) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  if (bytes == 0) return cudaSuccess;
  Sides sides{};
  const cudaError_t error = find_sides(p, to, from, bytes, kind, sides);
  return error == cudaSuccess ? body(sides.to, sides.from) : error;
}

template <class Body>
cudaError_t checked_peer_copy(Process& p, void* to, int to_device, const void* from,
                              int from_device, std::size_t bytes, const Body& body) {
  if (!p.devices.is_ordinal(to_device) || !p.devices.is_ordinal(from_device))
    return cudaErrorInvalidDevice;
  return checked_copy(p, to, from, bytes, cudaMemcpyDefault, [&](const Side& t, const Side& f) {
    const auto is_at = [&](const Side& side, int device) {
      return side.owner == p.devices.gpu(device) || side.place == Place::unified;
    };
    return is_at(t, to_device) && is_at(f, from_device) ? body(t, f) : cudaErrorInvalidValue;
  });
}

cudaError_t copy_async(Process& p, Lock& lock, const Side& to, const Side& from, std::size_t bytes,
                       Stream& stream, const char* call) {
  TicketPointer ticket;
  const cudaError_t error = submit_copy(p, stream, to, from, bytes, call, ticket);
  // A copy to pageable memory, and one within the host, return when they are done.
  const bool is_synchronous =
      to.place == Place::pageable || (!is_for_gpus(to) && !is_for_gpus(from));
  if (error == cudaSuccess && is_synchronous) wait_for(p, lock, {ticket});
  return error;
}

cudaError_t set_bytes(void* memory, int value, std::size_t bytes, cudaStream_t handle, Wants wants,
                      const char* call_name) {
  return call(wants, [&](Process& p, Lock& lock) {
    const auto stream = find_stream(p, handle);
    // Only for copies the programming guide lets a stream of another device pass.
    if (stream == nullptr || stream->device != current_device()) {
      return cudaErrorInvalidResourceHandle;
    }
    if (bytes == 0) return cudaSuccess;
    const auto side = side_at(p, memory, bytes);
    if (!side || side->place == Place::pageable) return cudaErrorInvalidValue;
    TicketPointer ticket;
    Work work{call_name, [&p, side = *side, value, bytes, call_name] {
                demand_order(p, side, nullptr, bytes, call_name);
                const int gpu = side.place == Place::pinned ? 0 : host;  // 0: any looks it up
                std::memset(p.memory.view(side.address, bytes, Access::write, gpu, call_name),
                            value, bytes);
                return Progress::done;
              }};
    if (stream->front.capture != nullptr) {
      work.node = std::make_shared<NodeDetails>(NodeDetails{
          cudaGraphNodeTypeMemset,
          cudaMemsetParams{memory, bytes, static_cast<unsigned char>(value), 1, bytes, 1}});
    }
    const cudaError_t error = submit(p, *stream, std::move(work), &ticket);
    // The host waits for a memset of memory that it may use only.
    if (error == cudaSuccess && side->place != Place::device && wants == Wants::safety) {
      wait_for(p, lock, {ticket});
    }
    return error;
  });
}

}  // namespace
}  // namespace emulator

using namespace emulator;

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return call(Wants::safety, [&](Process& p, Lock& lock) {
    return checked_copy(p, to, from, bytes, kind, [&](const Side& target, const Side& source) {
      Stream& stream = legacy_stream(p, current_device());
      TicketPointer ticket;
      if (source.place == Place::pageable && target.place == Place::device) {
        // "A stream sync is performed before the copy is initiated." It returns when the source has
        // been staged.
        const cudaError_t error =
            submit(p, stream, {"cudaMemcpy", [] { return Progress::done; }}, &ticket);
        if (error != cudaSuccess) return error;
        wait_for(p, lock, {ticket});
        if (sticky_error() != cudaSuccess) return sticky_error();
        return submit_copy(p, stream, target, source, bytes, "cudaMemcpy", ticket);
      }
      const cudaError_t error = submit_copy(p, stream, target, source, bytes, "cudaMemcpy", ticket);
      // "For transfers from device memory to device memory, no host-side synchronization is
      // performed." Of managed memory the documentation is silent, unless the program says so.
      const bool is_named_device =
          kind == cudaMemcpyDeviceToDevice && is_for_gpus(source) && is_for_gpus(target);
      const bool is_within_devices =
          is_named_device || (source.place == Place::device && target.place == Place::device);
      if (error == cudaSuccess && !is_within_devices) wait_for(p, lock, {ticket});
      return error;
    });
  });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t handle) {
  return call(Wants::context, [&](Process& p, Lock& lock) {
    const auto stream = find_stream(p, handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    return checked_copy(p, to, from, bytes, kind, [&](const Side& target, const Side& source) {
      return copy_async(p, lock, target, source, bytes, *stream, "cudaMemcpyAsync");
    });
  });
}

/// Asynchronous for the host, but serialised with all work of the devices that take part.
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           std::size_t bytes) {
  return call(Wants::safety, [&](Process& p, Lock&) {
    return checked_peer_copy(
        p, to, to_device, from, from_device, bytes, [&](const Side& t, const Side& f) {
          Stream& stream = legacy_stream(p, current_device());
          const std::set<int> devices{to_device, from_device, current_device()};
          Work work = copy_work(p, stream, t, f, bytes, "cudaMemcpyPeer");
          work.after = p.scheduler.newest(
              [&](const Queue& queue) { return devices.contains(queue.device); });
          TicketPointer ticket;
          const cudaError_t error = submit(p, stream, std::move(work), &ticket);
          if (error != cudaSuccess) return error;
          const auto wait_behind = [&](Queue& queue) {
            if (devices.contains(queue.device))
              p.scheduler.enqueue(
                  queue, {"cudaMemcpyPeer", [] { return Progress::done; }, {ticket}, true});
          };
          for (const auto& [handle, other] : p.streams.all()) wait_behind(*other->queue);
          for (const int device : devices)
            if (device != current_device()) wait_behind(*legacy_stream(p, device).queue);
          return cudaSuccess;
        });
  });
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t bytes, cudaStream_t handle) {
  return call(Wants::context, [&](Process& p, Lock& lock) {
    const auto stream = find_stream(p, handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    return checked_peer_copy(
        p, to, to_device, from, from_device, bytes, [&](const Side& t, const Side& f) {
          return copy_async(p, lock, t, f, bytes, *stream, "cudaMemcpyPeerAsync");
        });
  });
}

cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  return set_bytes(memory, value, bytes, nullptr, Wants::safety, "cudaMemset");
}

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  return set_bytes(memory, value, bytes, stream, Wants::context, "cudaMemsetAsync");
}

namespace {

/// Calls `copy(offset of the target, offset of the source)` for each row.
template <class Copy>
cudaError_t for_rows(std::size_t to_pitch, std::size_t from_pitch, std::size_t width,
                     std::size_t height, const Copy& copy) {
  if (width > to_pitch || width > from_pitch) return last_error() = cudaErrorInvalidPitchValue;
  for (std::size_t row = 0; row < height; ++row)
    if (const cudaError_t e = copy(row * to_pitch, row * from_pitch); e != cudaSuccess) return e;
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return for_rows(to_pitch, from_pitch, width, height, [&](std::size_t at, std::size_t source) {
    return cudaMemcpy(static_cast<std::byte*>(to) + at,
                      static_cast<const std::byte*>(from) + source, width, kind);
  });
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return for_rows(to_pitch, from_pitch, width, height, [&](std::size_t at, std::size_t source) {
    return cudaMemcpyAsync(static_cast<std::byte*>(to) + at,
                           static_cast<const std::byte*>(from) + source, width, kind, stream);
  });
}

cudaError_t cudaMemset2D(void* memory, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  return for_rows(pitch, pitch, width, height, [&](std::size_t at, std::size_t) {
    return cudaMemset(static_cast<std::byte*>(memory) + at, value, width);
  });
}

cudaError_t cudaMemset2DAsync(void* memory, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
  return for_rows(pitch, pitch, width, height, [&](std::size_t at, std::size_t) {
    return cudaMemsetAsync(static_cast<std::byte*>(memory) + at, value, width, stream);
  });
}
