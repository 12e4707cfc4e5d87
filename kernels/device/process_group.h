#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "kernels/core/collective.h"

// Processes started together by a launcher such as mpirun or srun.
namespace assay {

/// The job, seen from one of its processes. All processes concerned make the same calls in the same
/// order. Throws DeviceError. When one process dies, launchers end all of them.
class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Returns "Open MPI 4.1.4".
  virtual std::string library() const = 0;
  /// "mpi": what carries the data, the CSV column `transport`.
  virtual std::string transport() const = 0;

  /// Returns when the caller may change the bytes.
  virtual void send(int to, std::span<const std::byte> bytes) = 0;
  /// Returns the next message of that process. Yields the core during long waits.
  virtual std::vector<std::byte> receive(int from) = 0;

  /// Sends the bytes of the first member to all others. Every member passes a span of the same
  /// size.
  virtual void broadcast(std::span<const int> members, std::span<std::byte> bytes) = 0;
  /// Makes this process's call of a collective of the members, whose ranks are their places in the
  /// list. No allreduce returns before all have called it.
  virtual void run(std::span<const int> members, const CollectiveCall& call) = 0;
};

}  // namespace assay
