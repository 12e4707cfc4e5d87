#include "session/life/live_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "kernels/core/clock.h"
#include "kernels/core/status.h"
#include "kernels/core/version.h"
#include "session/console/stderr_message.h"
#include "session/life/describe_run.h"
#include "session/machine/device_list.h"
#include "session/machine/lock_devices.h"
#include "session/plan/select_trials.h"
#include "session/process/exit_code.h"
#include "session/process/interrupt.h"
#include "session/workers/worker_command.h"

namespace assay {
namespace {

const double begin_s = steady_s();

void check_still_here(const DeviceCells& cells, const protocol::Hello& machine) {
  const std::string& device = cells.at("device");
  const std::string& name = cells.at("name");
  if (!cells.contains("uuid")) throw UsageError("--resume: devices.csv has no column 'uuid'");
  const std::string& uuid = cells.at("uuid");
  const auto found = std::ranges::find(machine.devices, device, &DeviceInfo::device);
  if (found == machine.devices.end()) {
    throw AbsentDevice(fmt::format("--resume: {} ({}) is gone", device, name));
  }
  if (found->name != name || found->uuid != uuid) {
    throw UsageError(fmt::format("--resume: {} is now '{}' {}; the run began on '{}' {}", device,
                                 found->name, found->uuid, name, uuid));
  }
}

/// Makes a described run the next session of a stored one, whose times and counts it continues.
void go_on(RunInfo& run, const RunInfo& stored) {
  const Session session = run.sessions.back();
  run.directory = stored.directory;
  run.run_id = stored.run_id;
  run.started_at = stored.started_at;
  run.command_line = stored.command_line;
  run.sessions = stored.sessions;
  run.sessions.push_back(session);
  run.wall_s = stored.wall_s;
  run.taken = stored.taken;
  run.phases = stored.phases;
  run.references_computed = stored.references_computed;
  run.references_shared = stored.references_shared;
}

}  // namespace

double session_s() { return steady_s() - begin_s; }

void LiveRun::begin(bool wait) {
  catch_interrupts();  // nothing began before, so a signal ended the program
  for (const std::string& note : run.notes) say("note: {}\n", note);
  device_locks = lock_devices(run.devices, backends, wait);
}

void LiveRun::make_directory(const std::filesystem::path& out, const std::filesystem::path& parent,
                             bool takes_over) {
  if (out.empty()) {
    run.directory = make_default_run_directory(std::chrono::system_clock::now(), run.host, parent);
    directory_lock.emplace(run.directory);
    return;
  }
  run.directory = out;
  bool took_over = false;
  directory_lock.emplace(takes_over ? claim_run_directory(out, took_over)
                                    : claim_empty_directory(out));
  if (took_over) {
    say("'{}': a run was killed here before its first result; begun anew\n",
        run.directory.string());
  }
}

SupervisorOptions LiveRun::supervision(const SelectionOptions& selection, double cap_s,
                                       const std::filesystem::path& references) const {
  return {.worker = worker_command(selection, cap_s, references),
          .standby = standby,
          .for_lane = share_cores_on,
          .for_checks = share_cores,
          .backends = backends,
          .seed = selection.seed,
          .replay_flags = replay_flags(selection),
          .interrupted = interrupted};
}

void LiveRun::end(const Supervisor& supervisor, std::int64_t taken) {
  const double wall_s = session_s();
  Session& session = run.sessions.back();
  session.ended_at = run.ended_at = utc_now();
  session.interrupted = run.interrupted;
  session.exit_code = run.exit_code;
  session.wall_s = wall_s;
  session.taken = taken;
  run.wall_s += wall_s;
  run.taken += taken;
  run.references_computed += supervisor.references().computed;
  run.references_shared += supervisor.references().shared;
  run.phases += supervisor.phases();
  // Parallel lanes may have worked for longer than the time that passed.
  run.phases.other += std::max(0.0, wall_s - (run.phases.total() - before_s));
}

LiveRun live_run(const SelectionOptions& selection, const protocol::Hello& machine,
                 const std::vector<DeviceId>& devices) {
  return {.run = describe_run(selection, devices, machine), .backends = machine.backends};
}

LiveRun probe_run(const SelectionOptions& selection) {
  const std::shared_ptr<Standby> standby = probe_machine(selection);
  const protocol::Hello& machine = standby->hello;
  check_requirements(selection.require, machine);
  LiveRun live = live_run(selection, machine, resolve_devices(selection.devices, machine));
  live.standby = standby;
  return live;
}

void check_same_build(const StoredRun& stored) {
  if (stored.build_id == version::build_id) return;
  throw UsageError(fmt::format("--resume: '{}' was begun by build '{}', this is '{}'",
                               stored.directory.string(), stored.build_id, version::build_id));
}

LiveRun resume_run(const SelectionOptions& selection, const StoredRun& stored,
                   std::span<const DeviceCells> devices, std::shared_ptr<Standby> standby) {
  const protocol::Hello& machine = standby->hello;
  std::vector<DeviceId> ids;
  for (const DeviceCells& cells : devices) {
    const std::string& device = cells.at("device");
    const auto id = parse_device_id(device);
    if (!id) throw UsageError(fmt::format("--resume: no device is called '{}'", device));
    check_still_here(cells, machine);
    ids.push_back(*id);
  }
  LiveRun live = live_run(selection, machine, ids);
  go_on(live.run, stored);
  live.standby = std::move(standby);
  live.start = Start::resumed;
  live.before_s = live.run.phases.total();
  return live;
}

}  // namespace assay
