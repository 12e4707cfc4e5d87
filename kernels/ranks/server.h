#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/device/backend.h"
#include "kernels/device/held_work.h"
#include "kernels/device/process_group.h"
#include "kernels/ranks/message.h"

namespace assay::ranks {

/// One rank of a job: executes on its own device the requests of the rank that drives the job.
class Server {
 public:
  /// Serves device `device_index` of `backend`, which may be a CPU.
  Server(ProcessGroup& job, Backend& backend, int device_index)
      : job_(job), backend_(backend), device_index_(device_index) {}
  /// Handles one message. Returns nothing if it wants no answer: its error becomes the answer to
  /// the next one that does.
  std::optional<std::vector<std::byte>> handle(std::span<const std::byte> message);
  /// True if it was told to leave.
  bool is_done() const { return done_; }

 private:
  void answer(Command command, Reader& reader, Writer& writer);
  /// Opens the device when first needed, so that its user gets the error.
  Device& device();
  void prepare(Reader& reader, Writer& writer);
  void prepare_collective(Reader& reader, Writer& writer);
  std::string own_uuid(const std::string& uuid);
  Binding read_binding(Reader& reader);
  void time_together(Reader& reader, Writer& writer);
  void time(Reader& reader, Writer& writer);
  template <class T>
  T& at(std::map<std::uint64_t, std::unique_ptr<T>>& objects, std::uint64_t id) const;

  ProcessGroup& job_;
  Backend& backend_;
  int device_index_;
  std::unique_ptr<Device> device_;
  // Kernels refer to streams and communicators, and timed work to kernels: they end first.
  std::map<std::uint64_t, std::unique_ptr<Stream>> streams_;
  std::map<std::uint64_t, std::unique_ptr<Communicator>> communicators_;
  std::map<std::uint64_t, std::unique_ptr<Kernel>> kernels_;
  std::map<std::uint64_t, std::unique_ptr<HeldWork>> timed_;
  std::uint64_t last_id_ = 0;
  std::optional<DeviceError> error_;  // not yet reported
  bool done_ = false;
};

/// Serves rank 0 until it says to leave, or throws.
void serve(ProcessGroup& job, Backend& backend, int device_index);

/// An address of this process as a message carries it.
std::uint64_t address(const void* memory);

/// Writes the op as text; get_op reads it.
void put_op(Writer& writer, const OpInstance& op);
OpInstance get_op(Reader& reader);

}  // namespace assay::ranks
