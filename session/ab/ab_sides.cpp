#include "session/ab/ab_sides.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "harness/supervise/supervisor.h"
#include "kernels/core/status.h"
#include "kernels/core/this_program.h"
#include "kernels/device/driver_mode.h"
#include "kernels/sim/fault.h"
#include "session/kernels/kernel_process.h"
#include "session/kernels/own_ops.h"
#include "session/plan/select_trials.h"
#include "session/process/exit_code.h"
#include "session/process/library_path.h"
#include "session/workers/worker_command.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

/// Limits one trial on one side: warm-up takes at most a quarter of it, even if times never settle.
constexpr double cap_s = 1;

fs::path twin() {
  fs::path path = this_program().parent_path() / "assay_twin";
  if (!fs::exists(path)) {
    throw UsageError(
        fmt::format("--aa: '{}' is missing; it is built and installed with assay", path.string()));
  }
  return path;
}

fs::path find_program(ab::Side side, const AbOptions& options) {
  const fs::path& asked = options.programs[side];
  if (asked.empty()) return this_program();
  if (!fs::is_regular_file(asked) || access(asked.c_str(), X_OK) != 0) {
    throw UsageError(fmt::format("--{}: '{}' is not a program", ab::name(side), asked.string()));
  }
  return fs::absolute(asked);
}

std::pair<std::string, std::string> parse_variable(ab::Side side, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) {
    throw UsageError(fmt::format("--{}-env: '{}': expected NAME=VALUE", ab::name(side), text));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

AbSide side_of(ab::Side side, const AbOptions& options) {
  AbSide result{.selection = options.selection};
  result.info.program = find_program(side, options);
  for (const std::string& text : options.environment[side]) {
    result.info.environment.push_back(parse_variable(side, text));
  }
  for (const std::string& fault : options.sim_faults[side]) {
    sim::parse_fault(fault);
    result.info.sim_faults.push_back(fault);
    result.selection.sim_faults.push_back(fault);
  }
  result.selection.program = result.info.program;
  if (!options.kernels[side].empty()) result.selection.kernels = options.kernels[side];
  if (!options.pythons[side].empty()) result.selection.python = options.pythons[side];
  result.info.kernels = result.selection.kernels;
  check_kernels(result.selection);
  return result;
}

std::string read_all(const fs::path& path) {
  std::string bytes(fs::file_size(path), '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file.read(bytes.data(), std::ssize(bytes))) {
    throw UsageError(fmt::format("'{}' cannot be read", path.string()));
  }
  return bytes;
}

bool have_same_bytes(const fs::path& a, const fs::path& b) {
  if (fs::equivalent(a, b)) return true;
  return fs::file_size(a) == fs::file_size(b) && read_all(a) == read_all(b);
}

/// Each module that an installed program loads, by name.
std::map<std::string, fs::path> modules_of(const fs::path& program) {
  std::map<std::string, fs::path> modules;
  std::error_code none;
  for (const auto& file : fs::directory_iterator(
           fs::canonical(program).parent_path() / ".." / "lib" / "assay", none)) {
    if (file.is_regular_file()) modules[file.path().filename().string()] = file.path();
  }
  return modules;
}

}  // namespace

WorkerCommand AbSide::worker(int samples, const fs::path& references) const {
  WorkerCommand command = worker_command(selection, cap_s, references);
  command.arguments.insert(command.arguments.end(), {"--block", std::to_string(samples)});
  command.build_id = info.build_id;  // empty before the probe: any
  const Variables variables = with_library_path(info.environment);
  command.environment.insert(command.environment.end(), variables.begin(), variables.end());
  return command;
}

ab::Both<AbSide> sides_of(const AbOptions& options) {
  ab::Both<AbSide> sides{side_of(ab::Side::base, options), side_of(ab::Side::cand, options)};
  define_own_ops(sides.base.selection);
  define_own_ops(sides.cand.selection);
  if (!own_definitions().empty() && options.selection.own_ops.empty() &&
      options.selection.problem.empty() && sides.base.info.kernels != sides.cand.info.kernels) {
    throw UsageError(
        "the kernels of one side define ops, which must be the same for both: put the references "
        "into a file of their own, and name it by --own-ops");
  }
  if (options.aa) {
    sides.cand.info.program = sides.cand.selection.program = twin();
  } else if (is_same_program(sides) && sides.base.info.environment == sides.cand.info.environment &&
             sides.base.info.kernels == sides.cand.info.kernels &&
             sides.base.selection.python == sides.cand.selection.python &&
             sides.base.info.sim_faults == sides.cand.info.sim_faults) {
    throw UsageError(
        "both sides are the same program: name another with --base, a variable with --cand-env or "
        "kernels with --cand-kernels, or measure the noise floor of this machine with --aa");
  }
  if (has_foreign_kernels(sides)) {
    // Keeps the work of both sides the same, and remembered results out of both.
    sides.base.selection.fresh_inputs = sides.cand.selection.fresh_inputs = true;
  }
  return sides;
}

void probe_side(ab::Side side, AbSide& what) {
  try {
    what.machine = probe(what.worker(1, {}));
  } catch (const std::exception& error) {
    throw UsageError(fmt::format("--{}: '{}' is not an assay that this one can drive: {}",
                                 ab::name(side), what.info.program.string(), error.what()));
  }
  check_offers(what.machine, what.selection);
  what.info.build_id = what.machine.build_id;
  what.info.kernels_name = what.machine.kernels.name;
  what.info.devices = what.machine.devices;
}

void check_same_devices(const ab::Both<AbSide>& sides, const std::vector<DeviceId>& devices) {
  for (const DeviceId& id : devices) {
    const auto find = [&](const AbSide& side) {
      const auto found = std::ranges::find(side.machine.devices, to_text(id), &DeviceInfo::device);
      if (found == side.machine.devices.end()) {
        throw AbsentDevice(
            fmt::format("'{}' does not see {}", side.info.program.string(), to_text(id)));
      }
      return *found;
    };
    const DeviceInfo base = find(sides.base);
    const DeviceInfo cand = find(sides.cand);
    if (base.name != cand.name || base.uuid != cand.uuid) {
      throw AbsentDevice(fmt::format("{} is '{}' {} to the base and '{}' {} to the candidate",
                                     to_text(id), base.name, base.uuid, cand.name, cand.uuid));
    }
  }
}

void check_processes(const std::vector<DeviceInfo>& devices) {
  for (const DeviceInfo& device : devices) {
    if (!driver_mode::is(device, driver_mode::exclusive)) continue;
    throw AbsentDevice(fmt::format(
        "{} admits one process at a time (compute mode {}), and each side of a comparison is one: "
        "'nvidia-smi -c DEFAULT' admits both",
        device.device, driver_mode::exclusive));
  }
}

void check_faults(const ab::Both<AbSide>& sides) {
  for (const ab::Side side : {ab::Side::base, ab::Side::cand}) {
    if (sides[side].info.sim_faults.empty() || selects_simulated(sides[side].selection)) continue;
    throw UsageError(
        fmt::format("--{}-sim-fault: only simulated devices have faults: add '--sim-devices 1 "
                    "--device sim --stand-ins'",
                    ab::name(side)));
  }
}

bool has_foreign_kernels(const ab::Both<AbSide>& sides) {
  return !sides.base.info.kernels.empty() || !sides.cand.info.kernels.empty();
}

bool is_same_program(const ab::Both<AbSide>& sides) {
  const auto searches_elsewhere = [](const AbSide& side) {
    return std::ranges::find(side.info.environment, "ASSAY_BACKEND_PATH",
                             &std::pair<std::string, std::string>::first) !=
           side.info.environment.end();
  };
  if (searches_elsewhere(sides.base) || searches_elsewhere(sides.cand)) return false;
  return have_same_bytes(sides.base.info.program, sides.cand.info.program) &&
         std::ranges::equal(
             modules_of(sides.base.info.program), modules_of(sides.cand.info.program),
             [](const auto& base, const auto& cand) {
               return base.first == cand.first && have_same_bytes(base.second, cand.second);
             });
}

}  // namespace assay
