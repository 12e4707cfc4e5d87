#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/base/dtype.h"

// Processes that a launcher such as mpirun or srun started together.
namespace assay {

/// How elements of two processes become one.
struct Reduction {
  DType dtype = DType::f32;
  /// "sum" or "prod" where the library's own may be taken; else empty.
  std::string_view native;
  /// y[i] = a[i] with b[i], for n elements; y may be a or b.
  void (*combine)(void* y, const void* a, const void* b, std::size_t n) = nullptr;
};

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

  /// Sends the bytes of the first member to all others, each of which gives as many.
  virtual void broadcast(std::span<const int> members, std::span<std::byte> bytes) = 0;
  /// Leaves in each member's `output` what the reduction makes of all inputs. In place where both
  /// are the same.
  virtual void allreduce(std::span<const int> members, const void* input, void* output,
                         std::size_t count, const Reduction& reduction) = 0;
};

/// What a launcher tells a process about its job, in the environment.
struct LaunchInfo {
  std::string launcher;  // "mpirun", "srun"
  int rank = 0;
  int size = 1;
  int local_rank = 0;  // among the processes of this host
  /// Of the command line that the rank was started by.
  std::int64_t command_hash = 0;
};

/// Nothing where no launcher started this process, or started it alone. Throws UsageError for
/// numbers that cannot be.
std::optional<LaunchInfo> launch_info();

}  // namespace assay
