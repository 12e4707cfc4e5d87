#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/math_mode.h"
#include "kernels/core/tensor_spec.h"
#include "kernels/device/device_info.h"
#include "kernels/device/timed_work.h"
#include "kernels/ops/op.h"

namespace assay {

/// A point in the order of a stream's work.
class Event {
 public:
  virtual ~Event() = default;
};

/// An in-order queue of work on one device.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual std::unique_ptr<Event> create_event() = 0;
  virtual void record(Event& event) = 0;
  /// Seconds of device time between two recorded events; waits for `stop`.
  virtual double elapsed_s(const Event& start, const Event& stop) = 0;
  virtual void synchronize() = 0;
  /// Enqueues work that evicts the present contents of the device's caches.
  virtual void flush_caches() = 0;
  /// Blocks work enqueued from now on until unblock(), so that it then runs without gaps. Ends by
  /// itself after a while. Returns false if nothing is blocked: a CPU starts at once.
  virtual bool block() { return false; }
  virtual void unblock() {}
  /// Lets later work on this stream wait for all work of the process on the device, that on other
  /// streams too.
  virtual void await_all() {}
  /// Combines `launches` launches of a kernel into one on each of its `streams`, of which this is
  /// the first. Saves the host's cost of each launch. Returns null if graphs are not supported, or
  /// not for this kernel.
  virtual std::unique_ptr<Kernel> as_graph(Kernel& /*kernel*/, std::int64_t /*launches*/,
                                           std::span<Stream* const> /*streams*/) {
    return nullptr;
  }
  /// Work on streams of other processes, of which this is the first: they time it themselves.
  /// Returns null for streams of this process (HeldWork).
  virtual std::unique_ptr<TimedWork> remote_work(std::span<Stream* const> /*streams*/,
                                                 const LaunchSets& /*sets*/) {
    return nullptr;
  }
  /// Native queue, for kernels of others: a cudaStream_t. Null on a CPU.
  virtual void* native() { return nullptr; }
  /// UUID, as the driver reports it, of the device that executes the work of this stream. Empty if
  /// unknown.
  virtual std::string device_uuid() const { return {}; }
  /// Returns true if blocked work began by itself since the last call: it may have waited for the
  /// host.
  virtual bool take_lapse() { return false; }
  /// Enqueues readings of the device's cycles and time before and after timed work.
  virtual void begin_clock() {}
  virtual void end_clock() {}
  /// Core clock between the last two readings. Waits for them. Empty if unknown, or if they are too
  /// close to tell.
  virtual std::optional<double> clock_hz() { return std::nullopt; }
};

/// The tensors of one rank of an op, and the stream on which it runs. The addresses belong to the
/// device's address space, which the host may be unable to read.
struct Binding {
  Stream* stream = nullptr;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
};

/// An op bound to its tensors, with any plan or workspace that the library needs.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// Enqueues the work once, asynchronously if the device can.
  virtual void launch() = 0;
  /// Library, version and algorithm: "oneDNN 2.6.3 matmul gemm:jit".
  virtual std::string implementation() const = 0;
  /// Algorithms of a library that were wrong when they were tried, and so are not used.
  virtual std::string wrong_algorithms() const { return {}; }
  /// Transport between ranks, for kernels that bring their own communicator.
  virtual std::string transport() const { return {}; }
  /// Precision and rounding of sums of products. By default the op's, each addition rounded to
  /// nearest.
  virtual MathMode math_mode() const { return {}; }
  /// True if launch() may wait for the device: such work is never blocked (Stream::block).
  virtual bool may_wait() const { return false; }
  /// True if launches may put work on other streams than the given one: kernels of others.
  virtual bool may_stray() const { return false; }
  /// True if the work on one stream waits for that on another, as ranks of a collective do.
  virtual bool streams_wait() const { return false; }
};

/// Host bytes, and their place in a block of a device's memory: where a download puts them.
struct Piece {
  std::size_t offset = 0;
  std::span<std::byte> bytes;
};
/// Host bytes of an upload, and where in a block they go.
struct SourcePiece {
  std::size_t offset = 0;
  std::span<const std::byte> bytes;
};

/// Working state of a device. Fields that cannot be read are empty.
struct DeviceCondition {
  std::optional<double> clock_hz;  // core clock
  std::optional<double> temperature_c;
  std::optional<double> power_w;
  std::optional<bool> throttled;          // slowed down by heat, or by the hardware
  std::optional<double> energy_j;         // spent since some moment, by a counter of the device
  std::optional<bool> power_capped = {};  // slowed down to stay within its power limit
};

/// Errors that the driver counts since it started. Fields that cannot be read are empty.
struct DeviceErrors {
  std::optional<std::int64_t> ecc_corrected;
  std::optional<std::int64_t> ecc_uncorrected;
  std::optional<std::int64_t> nvlink;  // replays, recoveries and CRC errors of all links
  std::optional<std::int64_t> xid;     // NVIDIA's driver: XID errors since this process first asked
  std::int64_t last_xid = 0;           // code of the last one
};

/// An execution place. Owns its memory and streams. Every call may throw DeviceError.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  /// Product name, for rows. More precise than info() where the name is known only now.
  virtual std::string hardware() const { return info().name; }
  /// Reads the present state. Takes some microseconds.
  virtual DeviceCondition condition() const { return {}; }
  virtual DeviceErrors errors() const { return {}; }

  /// Allocates memory of this device, aligned to at least 64 bytes. Throws DeviceError(not_here)
  /// for a kind that the device lacks. Prefer `Buffer`, which releases it.
  virtual void* allocate(std::size_t bytes, Memory kind) = 0;
  virtual void release(void* memory) noexcept = 0;
  /// Memory available now, as the driver reports it. 0 if unknown.
  virtual std::int64_t free_memory_bytes() const { return 0; }
  /// True if its memory is part of the host's memory.
  virtual bool is_host() const { return false; }
  /// True if the host can read and write its memory directly.
  virtual bool is_readable_by_host() const { return false; }
  /// True if it has fenced memory: a kernel that reads past the end of a tensor there ends its
  /// process.
  virtual bool has_fences() const { return false; }
  /// True if kernels are tried on tensors that begin at multiples of their elements' size alone.
  virtual bool tries_odd_addresses() const { return has_fences(); }
  /// UUID, as the driver reports it, of the device that holds this memory. Empty if unknown, and
  /// for memory that was requested as host memory.
  virtual std::string owner_uuid(const void* /*memory*/) const { return {}; }

  // Synchronous transfers for inputs and verdicts. No case times them.
  virtual void upload(void* to, const void* from_host, std::size_t bytes) = 0;
  virtual void download(void* to_host, const void* from, std::size_t bytes) = 0;
  virtual void fill(void* to, std::byte value, std::size_t bytes) = 0;
  // Many small transfers at once, of one block of memory.
  virtual void upload_pieces(void* to, std::span<const SourcePiece> pieces);
  virtual void download_pieces(const void* from, std::span<const Piece> pieces);
  /// Writes to each page of fresh memory by the threads that compute, where pages lie near the
  /// thread that touches them first.
  virtual void touch(void* /*memory*/, std::size_t /*bytes*/) {}

  /// Lets the process that runs its kernels stand still until it is next told something, so that no
  /// thread there works ahead or behind a launch. Does nothing where that process is this one.
  virtual void pause() {}
  /// The process that `pause` stops.
  virtual std::optional<pid_t> process() const { return std::nullopt; }

  virtual std::unique_ptr<Stream> create_stream() = 0;
  /// Waits for all work of the process on the device, also that of streams and threads of others.
  virtual void wait_for_all() {}
  /// Launches, waits for the stream alone, and at once fills memory. Then waits for all work: what
  /// went on after its stream had ended has written over the new content.
  virtual void launch_and_fill(Kernel& kernel, Stream& stream, void* memory, std::byte value,
                               std::size_t bytes);
  /// Translates a binding to the addresses at which code on this device reaches its tensors.
  virtual Binding reachable(const Binding& binding) const { return binding; }

  /// Throws DeviceError(not_here) for an op or dtype that the device lacks.
  virtual std::unique_ptr<Kernel> prepare(const OpInstance& op, const Binding& binding) = 0;
};

/// Bytes of all pieces together.
std::size_t total_bytes(const auto& pieces) {
  std::size_t bytes = 0;
  for (const auto& piece : pieces) bytes += piece.bytes.size();
  return bytes;
}

inline void Device::upload_pieces(void* to, std::span<const SourcePiece> pieces) {
  for (const auto& [offset, bytes] : pieces) {
    upload(static_cast<std::byte*>(to) + offset, bytes.data(), bytes.size());
  }
}

inline void Device::download_pieces(const void* from, std::span<const Piece> pieces) {
  for (const auto& [offset, bytes] : pieces) {
    download(bytes.data(), static_cast<const std::byte*>(from) + offset, bytes.size());
  }
}

inline void Device::launch_and_fill(Kernel& kernel, Stream& stream, void* memory, std::byte value,
                                    std::size_t bytes) {
  kernel.launch();
  stream.synchronize();
  fill(memory, value, bytes);
  wait_for_all();
}

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
