#include "kernels/providers/own_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "kernels/core/clock.h"
#include "kernels/core/status.h"
#include "kernels/device/device_id.h"

namespace assay::providers {
namespace {

/// More than the caches of known devices.
constexpr std::size_t flush_bytes = std::size_t{512} << 20;

std::span<const assay_device> list_of(const assay_kernel_table& table) {
  if (table.devices == nullptr || table.devices->list == nullptr) return {};
  return {table.devices->list, static_cast<std::size_t>(std::max(0, table.devices->count))};
}

void check(const assay_kernel_table& table, std::int32_t result) {
  if (result == ASSAY_OK) return;
  const char* text = table.last_error();
  throw DeviceError(result == ASSAY_OUT_OF_MEMORY ? Failure::out_of_memory : Failure::internal,
                    fmt::format("{}: {}", table.name, text == nullptr ? "" : text));
}

struct OwnEvent final : Event {
  double at_s = 0;
};

/// The stream on which the provider launches. Its events are times at which it stood still, by the
/// clock of this process: a provider gives no time.
class OwnStream final : public Stream {
 public:
  OwnStream(Device& device, const assay_kernel_table& table, std::int32_t place)
      : device_(device), table_(table), place_(place) {}

  std::unique_ptr<Event> create_event() override { return std::make_unique<OwnEvent>(); }
  void record(Event& event) override {
    synchronize();
    static_cast<OwnEvent&>(event).at_s = steady_s();
  }
  double elapsed_s(const Event& start, const Event& stop) override {
    return static_cast<const OwnEvent&>(stop).at_s - static_cast<const OwnEvent&>(start).at_s;
  }
  void synchronize() override { check(table_, table_.devices->synchronize(place_, 0)); }
  void flush_caches() override {
    if (!flushed_) flushed_ = std::make_unique<Buffer>(device_, flush_bytes);
    device_.fill(flushed_->data(), std::byte(++value_), flushed_->bytes());
  }

 private:
  Device& device_;
  const assay_kernel_table& table_;
  std::int32_t place_;
  std::unique_ptr<Buffer> flushed_;
  unsigned char value_ = 0;
};

class OwnDeviceOfTable final : public Device {
 public:
  OwnDeviceOfTable(const assay_kernel_table& table, std::int32_t place, DeviceInfo info)
      : table_(table), place_(place), info_(std::move(info)) {}

  const DeviceInfo& info() const override { return info_; }
  void* allocate(std::size_t bytes, Memory kind) override {
    if (kind != Memory::standard) {
      throw DeviceError(Failure::not_here, info_.device + " has standard memory alone");
    }
    void* memory = nullptr;
    check(table_, devices().allocate(place_, static_cast<std::int64_t>(bytes), &memory));
    return memory;
  }
  void release(void* memory) noexcept override { devices().release(memory); }
  void upload(void* to, const void* from_host, std::size_t bytes) override {
    check(table_, devices().upload(to, from_host, static_cast<std::int64_t>(bytes)));
  }
  void download(void* to_host, const void* from, std::size_t bytes) override {
    check(table_, devices().download(to_host, from, static_cast<std::int64_t>(bytes)));
  }
  void fill(void* to, std::byte value, std::size_t bytes) override {
    check(table_, devices().fill(to, static_cast<int>(value), static_cast<std::int64_t>(bytes)));
  }
  std::unique_ptr<Stream> create_stream() override {
    return std::make_unique<OwnStream>(*this, table_, place_);
  }
  void wait_for_all() override { check(table_, devices().synchronize(place_, 1)); }
  std::unique_ptr<Kernel> prepare(const OpInstance& /*op*/, const Binding& /*binding*/) override {
    throw DeviceError(Failure::not_here, info_.device + " has no kernels of ours");
  }

 private:
  const assay_devices& devices() const { return *table_.devices; }

  const assay_kernel_table& table_;
  std::int32_t place_;
  DeviceInfo info_;
};

class OwnBackend final : public Backend {
 public:
  OwnBackend(const assay_kernel_table& table, const std::string& kind)
      : table_(table), traits_(own_traits(kind, false)) {}

  const BackendTraits& traits() const override { return traits_; }
  std::vector<DeviceInfo> describe() const override {
    std::vector<DeviceInfo> infos;
    for (const OwnDevice& device : read_own_devices(table_)) {
      if (device.kind == kind()) infos.push_back(own_info(device, std::ssize(infos)));
    }
    return infos;
  }
  std::unique_ptr<Device> open(int index) override {
    const auto list = list_of(table_);
    for (std::size_t place = 0; place < list.size(); ++place) {
      if (list[place].kind != kind() || list[place].index != index) continue;
      return std::make_unique<OwnDeviceOfTable>(table_, static_cast<std::int32_t>(place),
                                                describe().at(static_cast<std::size_t>(index)));
    }
    throw DeviceError(Failure::device_lost, "there is no " + to_text(DeviceId{kind(), index}));
  }
  std::unique_ptr<Communicator> connect(std::span<Device* const> /*devices*/, int /*ranks*/,
                                        Bootstrap& /*bootstrap*/) override {
    throw DeviceError(Failure::not_here, "kernels of others have no collectives");
  }

 private:
  const assay_kernel_table& table_;
  BackendTraits traits_;
};

}  // namespace

std::vector<OwnDevice> read_own_devices(const assay_kernel_table& table) {
  std::vector<OwnDevice> devices;
  for (const assay_device& device : list_of(table)) {
    const std::string kind = device.kind == nullptr ? "" : device.kind;
    const auto id = parse_device_id(fmt::format("{}:{}", kind, device.index));
    const auto of_kind = std::ranges::count(devices, kind, &OwnDevice::kind);
    if (!id || id->backend != kind || kind.find(':') == std::string::npos ||
        device.index != of_kind) {
      throw UsageError(
          fmt::format("it calls a device '{}:{}': expected two words and the number among those of "
                      "its kind, as in mine:npu:0",
                      kind, device.index));
    }
    devices.push_back({kind, device.name == nullptr ? kind : device.name});
  }
  const assay_devices* all = table.devices;
  if (!devices.empty() &&
      (all->allocate == nullptr || all->release == nullptr || all->upload == nullptr ||
       all->download == nullptr || all->fill == nullptr || all->synchronize == nullptr)) {
    throw UsageError("its devices lack one of their six functions");
  }
  return devices;
}

DeviceInfo own_info(const OwnDevice& device, std::int64_t index) {
  return {.device = to_text(DeviceId{device.kind, static_cast<int>(index)}),
          .backend = device.kind,
          .name = device.name};
}

std::unique_ptr<Backend> own_backend(const assay_kernel_table& table, const std::string& kind) {
  return std::make_unique<OwnBackend>(table, kind);
}

BackendTraits own_traits(const std::string& kind, bool is_ours_too) {
  return {.kind = kind, .memory = MemorySpace::device, .only_on_request = is_ours_too};
}

}  // namespace assay::providers
