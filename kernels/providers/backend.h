#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/core/file_descriptor.h"
#include "kernels/core/memory_space.h"
#include "kernels/device/backends.h"
#include "kernels/ops/offers.h"
#include "kernels/remote/process_memory.h"

// Devices as the judge sees them when others bring the kernels: the same devices, each served by a
// process of its own, in which those kernels run.
namespace assay::providers {

/// How long the kernels may take to be loaded, and what is told if they do not come to it.
struct Opening {
  double limit_s = 50;
  /// Says how the process ended that has closed its end: "ended with exit code 3".
  std::function<std::string()> how_it_ended = [] { return "has ended"; };
  /// Called when the judge has left the process, which should end.
  std::function<void()> left = [] {};
  /// Ops that users define (read_definitions): the process must know them too.
  std::vector<std::byte> definitions = {};
};

/// A process that runs kernels of others, and the judge's end of the socket to it.
class KernelProcess {
 public:
  /// `lost` is called when the process has ended, and does not return. Throws UsageError with the
  /// reason if it refuses, ends before it has loaded the kernels, or takes too long.
  KernelProcess(FileDescriptor socket, std::function<void()> lost, Opening opening = {});
  ~KernelProcess();
  KernelProcess(const KernelProcess&) = delete;
  KernelProcess& operator=(const KernelProcess&) = delete;

  const Offers& offers() const { return offers_; }
  /// Devices that it drives itself.
  const std::vector<DeviceInfo>& devices() const { return devices_; }
  /// The device, opened there. Once for each process. If its memory is the host's, this process
  /// reads and writes it without the other's help, unless the system forbids that.
  std::unique_ptr<Device> open(const DeviceInfo& info, int index, MemorySpace memory);

 private:
  class Connection;
  void hear_offers(const Opening& opening);
  std::function<void()> left_;
  std::unique_ptr<Connection> connection_;
  std::optional<remote::ProcessMemory> memory_;  // empty: the system forbids to reach it
  Offers offers_;
  std::vector<DeviceInfo> devices_;
};

/// Starts one more process.
using StartKernelProcess = std::function<std::unique_ptr<KernelProcess>()>;

/// All devices of `real`, which must outlive the result, and those of the provider. The first
/// process tells what it offers.
class ProvidedBackends {
 public:
  ProvidedBackends(const Backends& real, StartKernelProcess start);
  ~ProvidedBackends();
  ProvidedBackends(const ProvidedBackends&) = delete;
  ProvidedBackends& operator=(const ProvidedBackends&) = delete;

  const Backends& backends() const { return backends_; }
  const Offers& offers() const { return offers_; }

 private:
  class ProvidedBackend;
  void add_own(const Backends& real);
  std::unique_ptr<KernelProcess> take_process();

  StartKernelProcess start_;
  std::unique_ptr<KernelProcess> idle_;
  Offers offers_;
  Backends backends_;
};

}  // namespace assay::providers
