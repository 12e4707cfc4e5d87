#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harness/records/record.h"
#include "harness/supervise/worker_process.h"
#include "session/options/selection_options.h"

namespace assay {

/// Command of the hidden subcommand of `options.program` that executes this selection's trials.
/// `references` is the folder in which workers share references; empty when they do not.
WorkerCommand worker_command(const SelectionOptions& options, double cap_s = 0,
                             const std::filesystem::path& references = {});

/// Adjusts the worker of a lane without the CPU: it needs the CPU's cores only to judge, so its
/// threads neither spin nor stay put. The user's environment takes precedence.
void share_cores_on(WorkerCommand& command, const std::vector<DeviceId>& lane);

/// Lets the threads of a worker that only judges neither spin nor stay put: where others use the
/// cores, those that spin take the time of those that they wait for. False where the user's
/// environment says something else.
bool share_cores(WorkerCommand& command);

/// Command of the worker that lists the devices, as that of the first lane if the text of the
/// options tells: so that this lane can go on with it.
WorkerCommand probing_command(const SelectionOptions& options);

/// Options beside case, device and seed that a replay of a record needs: "--threads 1", and for
/// simulated devices "--sim-devices 2".
std::function<std::string(const Record&)> replay_flags(const SelectionOptions& options);

}  // namespace assay
