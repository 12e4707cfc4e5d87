#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/device/backend.h"
#include "kernels/device/held_work.h"
#include "kernels/device/process_group.h"
#include "kernels/device/process_state.h"
#include "kernels/remote/message.h"

namespace assay::remote {

/// The device that a process serves, and how.
struct Served {
  Backend& backend;
  int index = 0;          // of the device in its backend
  std::string name = {};  // of the process, where there are several: begins its errors
  /// UUID by which the driving process knows the device; empty: by the device's own.
  std::string uuid = {};
  /// Makes kernels in place of the device; empty: its own are served.
  std::function<std::unique_ptr<Kernel>(Device&, const OpInstance&, const Binding&)> prepare = {};
};

/// Executes on its own device the requests of the process that drives it.
class Server {
 public:
  Server(ProcessGroup& job, Served served) : job_(job), served_(std::move(served)) {}
  /// Handles one message. Returns nothing if it wants no answer: its error becomes the answer to
  /// the next one that does.
  std::optional<std::vector<std::byte>> handle(std::span<const std::byte> message);
  /// True if it was told to leave.
  bool is_done() const { return done_; }

 private:
  struct Request;

  /// Opens the device when first needed, so that its user gets the error.
  Device& device();

  ProcessGroup& job_;
  Served served_;
  std::unique_ptr<Device> device_;
  // Kernels refer to streams and communicators, and timed work to kernels: they end first.
  std::vector<std::unique_ptr<Stream>> idle_streams_;
  std::map<std::uint64_t, std::unique_ptr<Stream>> streams_;
  std::map<std::uint64_t, std::unique_ptr<Communicator>> communicators_;
  std::map<std::uint64_t, std::unique_ptr<Kernel>> kernels_;
  std::map<std::uint64_t, std::unique_ptr<HeldWork>> timed_;
  std::uint64_t last_id_ = 0;
  std::optional<DeviceError> error_;   // not yet reported
  std::optional<ProcessState> state_;  // of a process of others, since it prepared a kernel
  bool done_ = false;
};

/// Serves rank 0 until it says to leave, or throws.
void serve(ProcessGroup& job, Served served);

/// An address of this process as a message carries it.
std::uint64_t address(const void* memory);

/// Writes the op as text; get_op reads it.
void put_op(Writer& writer, const OpInstance& op);
OpInstance get_op(Reader& reader);

}  // namespace assay::remote
