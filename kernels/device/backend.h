#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/device/backend_traits.h"
#include "kernels/device/communicator.h"
#include "kernels/device/device.h"

namespace assay {

/// The devices of a machine that a process may see.
struct Visibility {
  std::string mask;                  // name of the environment variable that selects devices
  std::vector<std::string> machine;  // UUIDs of all devices, in the order of the mask's indices
  std::string unknown_because;       // reason when the hidden devices cannot be found
};

/// Implements the devices of one kind.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual const BackendTraits& traits() const = 0;
  const std::string& kind() const { return traits().kind; }

  /// Describes every visible device, in index order, without creating a context on it.
  virtual std::vector<DeviceInfo> describe() const = 0;

  /// Reasons why a device or a library is missing ("no NVIDIA driver (libcuda.so.1 not found)"),
  /// for `assay devices`. Empty when nothing is missing.
  virtual std::vector<std::string> problems() const { return {}; }

  /// Throws DeviceError(device_lost) when no device has this index.
  virtual std::unique_ptr<Device> open(int index) = 0;

  virtual Visibility visibility() const { return {.unknown_because = "no mask hides any"}; }

  /// Connects `ranks` ranks over `devices`: one shared device where ranks share it, else one device
  /// for each rank. In a job of several processes each one calls this with its own device. The
  /// bootstrap must outlive the result. Throws DeviceError(unsupported) without the collective
  /// library.
  virtual std::unique_ptr<Communicator> connect(std::span<Device* const> devices, int ranks,
                                                Bootstrap& bootstrap) = 0;
};

}  // namespace assay
