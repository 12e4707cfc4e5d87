#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/backends.h"
#include "cli/command.h"
#include "cli/device_list.h"
#include "cli/exit_code.h"
#include "cli/selection_options.h"
#include "cli/stderr_message.h"
#include "harness/records/fields_json.h"
#include "harness/records/fields_text.h"
#include "harness/supervise/supervisor.h"

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

std::string human_bytes(std::int64_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30));
}

void print_device(const DeviceInfo& device) {
  show("{}  {}\n", device.device, device.name);
  visit_fields(device, [&](std::string_view field, const auto& value) {
    if (field == "device" || field == "name" || field == "backend") return;
    std::string text = to_cell(value);
    if (text.empty()) return;
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::optional<std::int64_t>>) {
      if (field.ends_with("_bytes")) text = fmt::format("{} ({})", human_bytes(*value), text);
    }
    show("    {:<20} {}\n", field, text);
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
    const bool is_told = std::ranges::find(absent, problem.backend) != absent.end();
    if (!is_told) show("problem: {}\n", to_text(problem));
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
