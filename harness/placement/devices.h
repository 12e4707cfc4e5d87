#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/device/backends.h"
#include "kernels/device/device_id.h"

// Where things are: the devices that a process has open, and which of them is current. The engine
// opens the devices of every trial here.
namespace assay::placement {

class Devices;

/// An open device and what belongs to it: what tensors and modules are told to live on.
class Place {
 public:
  Place(Devices& devices, DeviceId id, std::unique_ptr<Device> device)
      : devices_(&devices), id_(std::move(id)), device_(std::move(device)) {}
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  const DeviceId& id() const { return id_; }
  /// "cuda:1".
  std::string text() const { return to_text(id_); }
  Device& device() const { return *device_; }
  Devices& devices() const { return *devices_; }
  bool is_cpu() const { return id_.backend == host_kind; }

  /// Of its generator of random numbers (harness/placement/random.h).
  struct Generator {
    std::uint64_t seed = 0;
    std::uint64_t drawn = 0;  // tensors since it was seeded
  };
  Generator& generator() { return generator_; }

 private:
  Devices* devices_;
  DeviceId id_;
  std::unique_ptr<Device> device_;
  Generator generator_;
};

/// The devices of one process. Each is opened once, when it is first asked for, and stays open. Of
/// one thread, but for places that several threads may use at once.
class Devices {
 public:
  explicit Devices(const Backends& backends) : backends_(&backends) {}

  /// Throws DeviceError(device_lost) for one that is not there, and says what to do about it.
  Place& open(const DeviceId& id);
  Place& cpu() { return open({std::string(host_kind), 0}); }

  /// How many devices of a kind the process sees; asks the driver.
  int count(std::string_view kind) const;
  bool is_available(std::string_view kind) const { return count(kind) > 0; }
  /// Null when there is no backend of that kind.
  Backend* backend(std::string_view kind) const { return backends_->find(kind); }

  /// The device of a kind that is taken where only the kind is named; the first one at the
  /// beginning. DeviceGuard changes it.
  DeviceId current(std::string_view kind) const;
  void make_current(const DeviceId& id) { current_[id.backend] = id.index; }

  /// What the layer had kernels do since it was last asked, for the row of a scenario.
  struct Ran {
    std::vector<std::string> implementations;  // each once
    MathMode math_mode;                        // of the last one with another than its op's
    std::string transport;                     // of the last collective
  };
  /// From any thread.
  void note(const Kernel& kernel, const std::string& transport = {});
  Ran take_ran();

 private:
  const Backends* backends_;
  std::mutex mutex_;
  Ran ran_;
  std::map<DeviceId, std::unique_ptr<Place>> open_;
  std::map<std::string, int, std::less<>> current_;
};

/// The one whose driver reports most free memory now; the first of several. Not of no places.
Place& most_free(std::span<Place* const> places);

}  // namespace assay::placement
