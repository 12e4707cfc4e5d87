#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "harness/placement/device_guard.h"
#include "harness/placement/scenarios/families.h"
#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "kernels/device/backend.h"

namespace assay::placement {
namespace {

/// Checks availability, count, current device and name of GPUs.
void device_query(Stage& stage) {
  const Place& place = stage.place();
  const std::string& kind = place.id().backend;
  Devices& devices = stage.devices();
  expect(devices.is_available(kind), "no device of kind " + kind + " is said to be available");
  const std::vector<DeviceInfo> listed = devices.backend(kind)->describe();
  expect(devices.count(kind) == std::ssize(listed),
         "the number of devices is not that of the list");
  expect(!devices.is_available("nonesuch"), "devices of no kind are said to be available");
  const auto own = std::ranges::find(listed, place.text(), &DeviceInfo::device);
  expect(own != listed.end(), place.text() + " is open, but not in the list of devices");
  const DeviceInfo& opened = place.device().info();
  expect(own->name == opened.name && own->uuid == opened.uuid,
         fmt::format("{} is listed as '{}' ({}) and opened as '{}' ({})", place.text(), own->name,
                     own->uuid, opened.name, opened.uuid));
  expect(!opened.name.empty(), place.text() + " has no name");
  const DeviceGuard guard(place);
  expect(
      devices.current(kind) == place.id(),
      fmt::format("{} was made current, and {} is", place.text(), to_text(devices.current(kind))));
  Tensor made(devices.open(devices.current(kind)), stage.input().dtype(), stage.input().shape());
  expect_on(place, made, "a tensor made on the current device");
  made.copy_from(stage.input());
  stage.output().copy_from(made);
}

/// Asking for a missing GPU gives an error that says so and what to do.
void absent_device_refused(Stage& stage) {
  constexpr int absent_index = 4096;
  const std::string& kind = stage.place().id().backend;
  std::vector<DeviceId> asked_for{{"nonesuch", 0}};
  if (!stage.place().is_cpu()) asked_for.push_back({kind, absent_index});
  for (const DeviceId& absent : asked_for) {
    std::optional<std::string> refusal;
    try {
      stage.devices().open(absent);
    } catch (const DeviceError& error) {
      refusal = error.what();
    }
    expect(refusal.has_value(), to_text(absent) + " is not there, and was opened");
    expect(refusal->find(to_text(absent)) != std::string::npos &&
               refusal->find("assay devices") != std::string::npos,
           fmt::format("the refusal of {} does not name it and a remedy: {}", to_text(absent),
                       *refusal));
  }
  stage.output().copy_from(stage.input());
}

/// Devices that a mask such as "2,0" shows, in its order, by index or (start of) UUID. As in CUDA,
/// the first invalid entry ends the list.
std::vector<std::string> masked(const std::vector<std::string>& machine, const std::string& mask) {
  std::vector<std::string> visible;
  for (const std::string& entry : split(mask, ',')) {
    const bool is_index =
        !entry.empty() && std::ranges::all_of(entry, [](char c) { return c >= '0' && c <= '9'; });
    const auto found = std::ranges::find_if(machine, [&](const std::string& uuid) {
      return is_index ? &uuid - machine.data() == std::atol(entry.c_str())
                      : !entry.empty() && uuid.starts_with(entry);
    });
    if (found == machine.end()) break;
    visible.push_back(*found);
  }
  return visible;
}

/// Masks map logical to physical indices.
void visible_mask(Stage& stage) {
  const Place& place = stage.place();
  const Visibility seen = stage.devices().backend(place.id().backend)->visibility();
  if (seen.machine.empty()) {
    throw DeviceError(Failure::not_here,
                      "nothing tells of the devices that a mask hides: " + seen.unknown_because);
  }
  const char* mask = std::getenv(seen.mask.c_str());
  const std::vector<std::string> expected = mask ? masked(seen.machine, mask) : seen.machine;
  const auto index = static_cast<std::size_t>(place.id().index);
  const std::string shown = fmt::format("{}={}", seen.mask, mask ? mask : "(not set)");
  expect(stage.devices().count(place.id().backend) == std::ssize(expected),
         fmt::format("{}: {} devices should be visible, {} are", shown, expected.size(),
                     stage.devices().count(place.id().backend)));
  const std::string& uuid = place.device().info().uuid;
  // Without a mask drivers may count the fastest first, and management libraries by the bus.
  const bool is_right =
      mask ? expected.at(index) == uuid : std::ranges::find(expected, uuid) != expected.end();
  expect(is_right, fmt::format("{}: {} should be {} and is {}", shown, place.text(),
                               expected.at(index), uuid));
  stage.output().copy_from(stage.input());
}

/// Chooses the GPU with most free memory, and another one after memory of the first is taken.
void device_with_most_free(Stage& stage) {
  constexpr std::int64_t some_bytes = std::int64_t{64} << 20;
  Place& first = most_free(stage.places);
  std::vector<Place*> others;
  std::ranges::copy_if(stage.places, std::back_inserter(others),
                       [&](const Place* place) { return place != &first; });
  Place& second = most_free(others);
  const std::int64_t lead =
      first.device().free_memory_bytes() - second.device().free_memory_bytes();
  expect(lead >= 0,
         fmt::format("{} was chosen, and {} has more free memory", first.text(), second.text()));
  const Buffer taken(first.device(), static_cast<std::size_t>(lead + some_bytes));
  const Place& now = most_free(stage.places);
  expect(&now == &second,
         fmt::format("{} bytes of {} were taken, so that {} has most; {} was chosen", taken.bytes(),
                     first.text(), second.text(), now.text()));
  stage.output().copy_from(stage.input().to(second));
}

struct Escape {};

/// Sets a current device for a scope and restores the previous one, also on errors.
void device_guard(Stage& stage) {
  Place& outer = *stage.places.at(0);
  Place& inner = *stage.places.at(1);
  const std::string& kind = outer.id().backend;
  Devices& devices = stage.devices();
  const bool by_error = stage.op.params.word("exit") == "error";
  const auto expect_current = [&](const Place& place, const std::string& when) {
    expect(devices.current(kind) == place.id(),
           fmt::format("{} the current device is {}, not {}", when, to_text(devices.current(kind)),
                       place.text()));
    // The driver must confirm that a new tensor lies on the current device.
    const Tensor made(devices.open(devices.current(kind)), DType::f32, {16});
    const std::string holder = place.device().owner_uuid(made.data());
    expect(holder.empty() || holder == place.device().info().uuid,
           fmt::format("{} a tensor made on the current device lies on {}, not on {}", when, holder,
                       place.text()));
  };
  const DeviceGuard guard(outer);
  try {
    const DeviceGuard nested(inner);
    expect_current(inner, "within a guard");
    {
      const DeviceGuard of_another_kind(devices.cpu());
      expect_current(inner, "within a guard of the CPU");
    }
    const Tensor there = stage.input().to(devices.open(devices.current(kind)));
    stage.output().copy_from(there);
    if (by_error) throw Escape{};
  } catch (const Escape&) {
    expect_current(outer, "after an error within a guard");
  }
  expect_current(outer, "after a guard");
}

}  // namespace

std::span<const ScenarioRow> device_scenarios() {
  static constexpr ScenarioRow rows[] = {
      {"device_query", device_query}, {"absent_device_refused", absent_device_refused},
      {"visible_mask", visible_mask}, {"most_free", device_with_most_free},
      {"device_guard", device_guard},
  };
  return rows;
}

}  // namespace assay::placement
