#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/device/backend_traits.h"
#include "kernels/device/communicator.h"
#include "kernels/device/device.h"

namespace assay {

/// Which devices of a machine a process may see.
struct Visibility {
  std::string mask;                  // the environment's variable that chooses among them
  std::vector<std::string> machine;  // the UUIDs of all, in the order that the mask's indices mean
  std::string unknown_because;       // where nothing tells of those that are hidden
};

/// What implements the devices of one kind.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual const BackendTraits& traits() const = 0;
  const std::string& kind() const { return traits().kind; }

  /// Every visible device, in index order, without creating a context on it.
  virtual std::vector<DeviceInfo> describe() const = 0;

  /// Why a device or a library is missing ("no NVIDIA driver (libcuda.so.1 not found)"), for
  /// `assay devices`. Empty when nothing is.
  virtual std::vector<std::string> problems() const { return {}; }

  /// Throws DeviceError(device_lost) for an index that no device has.
  virtual std::unique_ptr<Device> open(int index) = 0;

  virtual Visibility visibility() const { return {.unknown_because = "no mask hides any"}; }

  /// Connects `ranks` ranks over `devices`: all on the one device where ranks share it, else one
  /// each. Several processes call it together, each with its own device; their bootstrap must
  /// outlive the result. Throws DeviceError(unsupported) where the collective library is missing.
  virtual std::unique_ptr<Communicator> connect(std::span<Device* const> devices, int ranks,
                                                Bootstrap& bootstrap) = 0;
};

}  // namespace assay
