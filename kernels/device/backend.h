#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

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

  /// The part of a device id before the colon: "cpu", "cuda".
  virtual std::string kind() const = 0;

  /// Every visible device, in index order, without creating a context on it.
  virtual std::vector<DeviceInfo> describe() const = 0;

  /// Why a device or a library is missing ("no NVIDIA driver (libcuda.so.1 not found)"), for
  /// `assay devices`. Empty when nothing is.
  virtual std::vector<std::string> problems() const { return {}; }

  /// Throws DeviceError(device_lost) for an index that no device has.
  virtual std::unique_ptr<Device> open(int index) = 0;

  virtual Visibility visibility() const { return {.unknown_because = "no mask hides any"}; }

  /// Whether several ranks of a collective may share one device (threads of a CPU), or each needs
  /// a device of its own (GPUs).
  virtual bool ranks_share_device() const = 0;
  /// Its devices are driven by one process for all of a run, which no other can take the place of.
  virtual bool single_worker() const { return false; }

  /// Connects `ranks` ranks over `devices`: all on the one device where ranks share it, else one
  /// each. Several processes call it together, each with its own device; their bootstrap must
  /// outlive the result. Throws DeviceError(unsupported) where the collective library is missing.
  virtual std::unique_ptr<Communicator> connect(std::span<Device* const> devices, int ranks,
                                                Bootstrap& bootstrap) = 0;
};

}  // namespace assay
