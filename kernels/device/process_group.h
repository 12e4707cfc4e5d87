#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "kernels/core/reduction.h"

// Processes that a launcher such as mpirun or srun started together.
namespace assay {

/// The job, seen from one of its processes. Calls that concern several are made by all of them, in
/// the same order. Throws DeviceError. Where a process dies, launchers end all of them.
class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// "Open MPI 4.1.4".
  virtual std::string library() const = 0;

  /// Returns when the bytes may be changed.
  virtual void send(int to, std::span<const std::byte> bytes) = 0;
  /// The next message of that process. Leaves the core to others when it has to wait for long.
  virtual std::vector<std::byte> receive(int from) = 0;

  /// Returns when all members have called it.
  virtual void barrier(std::span<const int> members) = 0;
  /// Sends the bytes of the first member to all others, each of which gives as many.
  virtual void broadcast(std::span<const int> members, std::span<std::byte> bytes) = 0;
  /// Leaves in each member's `output` what the reduction makes of all inputs. In place where both
  /// are the same.
  virtual void allreduce(std::span<const int> members, const void* input, void* output,
                         std::size_t count, const Reduction& reduction) = 0;
};

}  // namespace assay
