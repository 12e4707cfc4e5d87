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

// Open devices of a process and the current one of each kind. The engine opens the devices of every
// trial here.
namespace assay::placement {

class Devices;

/// An open device with its generator. Tensors and modules live on a Place.
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

  /// State of its random number generator (harness/placement/random.h).
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

/// Devices of one process. Each opens on first use and stays open. For use by one thread, except
/// that several threads may use open places at once.
class Devices {
 public:
  explicit Devices(const Backends& backends) : backends_(&backends) {}

  /// Throws DeviceError for a missing device, with what to do about it; device_lost if its kind has
  /// no backend.
  Place& open(const DeviceId& id);
  Place& cpu() { return open({std::string(host_kind), 0}); }

  /// Number of devices of a kind that the process sees; asks the driver.
  int count(std::string_view kind) const;
  bool is_available(std::string_view kind) const { return count(kind) > 0; }
  /// Null if no backend has that kind.
  Backend* backend(std::string_view kind) const { return backends_->find(kind); }

  /// Default device of a kind; initially the first one. DeviceGuard changes it.
  DeviceId current(std::string_view kind) const;
  void make_current(const DeviceId& id) { current_[id.backend] = id.index; }

  /// Kernels that the layer ran since the last take_ran(), for the row of a scenario.
  struct Ran {
    std::vector<std::string> implementations;  // each once
    MathMode math_mode;                        // last one that differs from its op's
    std::string transport;                     // last collective's
    std::string wrong_algorithms;              // of the last kernel that has any
  };
  /// Callable from any thread.
  void note(const Kernel& kernel, const std::string& transport = {});
  Ran take_ran();

 private:
  const Backends* backends_;
  std::mutex mutex_;
  Ran ran_;
  std::map<DeviceId, std::unique_ptr<Place>> open_;
  std::map<std::string, int, std::less<>> current_;
};

/// Place whose driver reports most free memory now; the first of several. `places` must not be
/// empty.
Place& most_free(std::span<Place* const> places);

}  // namespace assay::placement
