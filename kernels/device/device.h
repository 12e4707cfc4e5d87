#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/math_mode.h"
#include "kernels/core/tensor.h"
#include "kernels/device/device_info.h"
#include "kernels/ops/op.h"

namespace assay {

/// A point in the order of a stream's work.
class Event {
 public:
  virtual ~Event() = default;
};

class Kernel;

/// An in-order queue of work on one device.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual std::unique_ptr<Event> create_event() = 0;
  virtual void record(Event& event) = 0;
  /// Seconds of device time between two recorded events; waits for `stop`.
  virtual double elapsed_s(const Event& start, const Event& stop) = 0;
  virtual void synchronize() = 0;
  /// Enqueues work that leaves nothing in the device's caches of what is there now.
  virtual void flush_caches() = 0;
  /// Keeps what is enqueued from now on from starting before unblock(), so that it runs without
  /// gaps. False where nothing is blocked: a CPU starts at once.
  virtual bool block() { return false; }
  virtual void unblock() {}
  /// `launches` launches of a kernel of this stream as one, which spares the host's share of each.
  /// Null where there is no such thing, or not for this kernel.
  virtual std::unique_ptr<Kernel> as_graph(Kernel& /*kernel*/, std::int64_t /*launches*/) {
    return nullptr;
  }
  /// The UUID of the device that executes what is enqueued here, as its driver tells; empty where
  /// it cannot be told.
  virtual std::string device_uuid() const { return {}; }
};

/// Two points of a stream's work, of which what lies between them is timed.
struct Interval {
  Stream* stream;
  Event* start;
  Event* stop;
};

/// Has `work` enqueued between the events of all intervals.
template <class Work>
void between(std::span<const Interval> intervals, const Work& work) {
  for (const Interval& interval : intervals) interval.stream->record(*interval.start);
  work();
  for (const Interval& interval : intervals) interval.stream->record(*interval.stop);
}

/// Where one rank of an op reads and writes, and the stream on which it runs. The addresses are in
/// the device's address space, which the host may not be able to read.
struct Binding {
  Stream* stream = nullptr;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
};

/// An op bound to its tensors, with whatever plan or workspace the library needs.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// Enqueues the work once, asynchronously where the device can.
  virtual void launch() = 0;
  /// The same so many times.
  virtual void launch_times(std::int64_t times) {
    for (; times > 0; --times) launch();
  }
  /// The same between two events of each stream that it runs on.
  virtual void launch_between(std::span<const Interval> intervals, std::int64_t times) {
    between(intervals, [&] { launch_times(times); });
  }
  /// Library, version and algorithm: "oneDNN 2.6.3 matmul gemm:jit".
  virtual std::string implementation() const = 0;
  /// What carries data between ranks, of kernels that bring a communicator of their own.
  virtual std::string transport() const { return {}; }
  /// How sums of products are kept. By default as the op says, each addition rounded to nearest.
  virtual MathMode math_mode() const { return {}; }
  /// Whether launch() may wait for the device: such work is never held back (Stream::hold).
  virtual bool may_wait() const { return false; }
};

/// The state in which a device works. Empty where it cannot be read.
struct DeviceCondition {
  std::optional<double> clock_hz;  // of its cores
  std::optional<double> temperature_c;
  std::optional<double> power_w;
  std::optional<bool> throttled;  // slower than its work would let it be, to stay within limits
};

/// One place that executes. Owns its memory and streams; every call may throw DeviceError.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  /// The product's name, for rows; more than info() where that is known only now.
  virtual std::string hardware() const { return info().name; }
  /// Now; takes some microseconds.
  virtual DeviceCondition condition() const { return {}; }

  /// Memory of this device, aligned to at least 64 bytes. Throws DeviceError(not_here) for a
  /// kind that is not to be had. Prefer `Buffer`, which releases it.
  virtual void* allocate(std::size_t bytes, Memory kind) = 0;
  virtual void release(void* memory) noexcept = 0;
  /// Memory that is to be had now, by the driver; 0 where it cannot be told.
  virtual std::int64_t free_memory_bytes() const { return 0; }
  /// Whether its memory is taken from the host's.
  virtual bool is_host() const { return false; }
  /// The host can read its memory where it lies.
  virtual bool is_readable_by_host() const { return false; }
  /// The UUID of the device that holds this memory, as its driver tells; empty where it cannot be
  /// told, and of memory of the host that was asked for as such.
  virtual std::string owner_uuid(const void* /*memory*/) const { return {}; }

  // Plumbing for inputs and verdicts: synchronous, and never what a case times.
  virtual void upload(void* to, const void* from_host, std::size_t bytes) = 0;
  virtual void download(void* to_host, const void* from, std::size_t bytes) = 0;
  virtual void fill(void* to, std::byte value, std::size_t bytes) = 0;

  virtual std::unique_ptr<Stream> create_stream() = 0;

  /// Throws DeviceError: `not_here` for an op or dtype that it does not have.
  virtual std::unique_ptr<Kernel> prepare(const OpInstance& op, const Binding& binding) = 0;
};

/// Memory of one device, released with the object.
class Buffer {
 public:
  Buffer(Device& device, std::size_t bytes, Memory kind = Memory::standard)
      : device_(&device), bytes_(bytes), data_(device.allocate(bytes, kind)) {}
  ~Buffer() {
    if (data_ != nullptr) device_->release(data_);
  }
  Buffer(Buffer&& other) noexcept
      : device_(other.device_), bytes_(other.bytes_), data_(std::exchange(other.data_, nullptr)) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer& operator=(Buffer&&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  std::size_t bytes() const { return bytes_; }
  Device& device() const { return *device_; }

 private:
  Device* device_;
  std::size_t bytes_;
  void* data_;
};

}  // namespace assay
