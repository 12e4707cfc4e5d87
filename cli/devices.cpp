#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "harness/records/fields_json.h"
#include "harness/records/fields_text.h"
#include "harness/supervise/supervisor.h"
#include "reports/text/column_unit.h"
#include "reports/text/text_table.h"
#include "session/console/stderr_message.h"
#include "session/machine/backends.h"
#include "session/machine/device_list.h"
#include "session/options/selection_options.h"
#include "session/process/exit_code.h"
#include "session/workers/worker_command.h"

namespace assay::cli {
namespace {

void print_json(const protocol::Hello& machine) {
  nlohmann::json document{{"schema", 1}, {"devices", nlohmann::json::array()}};
  for (const DeviceInfo& device : machine.devices) {
    document["devices"].push_back(fields_to_json(device));
  }
  document["problems"] = nlohmann::json::array();
  for (const BackendProblem& problem : machine.problems) {
    document["problems"].push_back(to_text(problem));
  }
  show_data(document.dump(2) + "\n");
}

std::string gib(std::int64_t bytes) {
  return fmt::format("{:.1f}", static_cast<double>(bytes) / (1 << 30));
}

/// One line a device: what it is, and the state in which it would be measured now.
std::string device_table(const std::vector<DeviceInfo>& devices) {
  std::vector<std::vector<std::string>> lines{
      {"device", "name", "units", "memory free", "clock", "temperature", "power", "driver"}};
  const auto shown = [](const std::optional<double>& value, double unit, const char* format) {
    return value ? fmt::format(fmt::runtime(format), *value / unit) : "-";
  };
  for (const DeviceInfo& device : devices) {
    const std::string free =
        device.memory_free_bytes ? gib(*device.memory_free_bytes) + " of " : "";
    lines.push_back(
        {device.device, device.name,
         device.compute_units ? std::to_string(*device.compute_units) : "-",
         device.memory_total_bytes ? free + gib(*device.memory_total_bytes) + " GiB" : "-",
         shown(device.clock_hz, 1e9, "{:.2f} GHz"), shown(device.temperature_c, 1, "{:.0f} °C"),
         shown(device.power_w, 1, "{:.0f} W"), device.driver.empty() ? "-" : device.driver});
  }
  return text_table(lines, "<<>>>>><");
}

std::string quantity(std::string_view unit, std::int64_t value) {
  if (unit != "B") return std::to_string(value);
  if (value < 1 << 30) return fmt::format("{} MiB ({})", value >> 20, value);
  return fmt::format("{} GiB ({})", gib(value), value);
}

std::string quantity(std::string_view unit, double value) {
  if (unit == "Hz") return fmt::format("{:.3g} GHz ({:.0f})", value * 1e-9, value);
  if (unit == "B/s") return fmt::format("{:.4g} GB/s ({:.0f})", value * 1e-9, value);
  return to_cell(value);
}

void print_device(const DeviceInfo& device) {
  show("{}  {}\n", device.device, device.name);
  visit_fields(device, [&](std::string_view field, const auto& value) {
    if (field == "device" || field == "name" || field == "backend") return;
    std::string text = to_cell(value);
    if (text.empty()) return;
    if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
      text = quantity(split_unit(field).unit, *value);
    }
    show("    {:<22} {}\n", field, text);
  });
}

int execute(bool json, int sim_devices) {
  SelectionOptions options;
  options.sim_devices = sim_devices;
  const protocol::Hello machine = probe(worker_command(options));
  if (json) {
    print_json(machine);
    return ok;
  }
  show_text(device_table(machine.devices) + "\n");
  for (const DeviceInfo& device : machine.devices) print_device(device);
  std::vector<std::string> absent;
  for (const BackendTraits& backend : known_backends(machine)) {
    const bool is_here = std::ranges::find(machine.devices, backend.kind, &DeviceInfo::backend) !=
                         machine.devices.end();
    if (is_here || !backend.when_absent.empty()) continue;
    absent.push_back(backend.kind);
    show("no {} device: {}\n", backend.kind, why_absent(backend, machine));
  }
  for (const BackendProblem& problem : machine.problems) {
    const bool is_shown = std::ranges::find(absent, problem.backend) != absent.end();
    if (!is_shown) show("problem: {}\n", to_text(problem));
  }
  return ok;
}

}  // namespace

Command add_devices(CLI::App& program) {
  struct Options {
    bool json = false;
    int sim_devices = 0;
  };
  auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand("devices", "what is here: every device and its state");
  app->add_flag("--json", options->json, "as JSON on standard output");
  app->add_option("--sim-devices", options->sim_devices, "simulated devices, for trying things out")
      ->check(CLI::Range(0, 64))
      ->type_name("N");
  return {app, [options] { return execute(options->json, options->sim_devices); }};
}

}  // namespace assay::cli
