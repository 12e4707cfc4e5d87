#include "session/workers/worker_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "harness/records/replay.h"
#include "kernels/core/names.h"
#include "kernels/core/this_program.h"
#include "kernels/cpu/all_cores.h"
#include "kernels/cpu/openblas.h"
#include "kernels/numa/traits.h"
#include "kernels/sim/traits.h"
#include "session/kernels/kernel_process.h"
#include "session/kernels/own_ops.h"
#include "session/kernels/python_program.h"
#include "session/process/this_launch.h"

namespace assay {
namespace {

bool runs_on_simulated(const Record& record) {
  return std::ranges::any_of(split_lane(record.device), [](const std::string& device) {
    const auto id = parse_device_id(device);
    return id && id->backend == sim::traits().kind;
  });
}

}  // namespace

bool share_cores(WorkerCommand& command) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("OMP_PROC_BIND") != nullptr) {
    return false;
  }
  std::erase_if(command.environment, [](const auto& set) { return set.first == "OMP_PROC_BIND"; });
  command.environment.emplace_back("OMP_PROC_BIND", "false");
  command.environment.emplace_back("OMP_WAIT_POLICY", "passive");
  return true;
}

WorkerCommand worker_command(const SelectionOptions& options, double cap_s,
                             const std::filesystem::path& references) {
  const std::filesystem::path program = options.program.empty() ? this_program() : options.program;
  cpu::use_all_cores();  // or workers would inherit the one core of this thread
  WorkerCommand command;
  command.arguments = {program.string(), "worker", "--parent", std::to_string(getpid())};
  const std::vector<std::string> of_trials = worker_words(options);
  command.arguments.insert(command.arguments.end(), of_trials.begin(), of_trials.end());
  command.conduct = {.cap_s = cap_s, .references = references.string()};
  if (options.threads > 0) {
    command.environment.emplace_back("OMP_NUM_THREADS", std::to_string(options.threads));
  }
  // Threads that wander between cores are noise. A user's own setting stays.
  if (std::getenv("OMP_PROC_BIND") == nullptr) {
    command.environment.emplace_back("OMP_PROC_BIND", "true");
  }
  const bool has_kernels = !options.kernels.empty();
  const bool shares = (options.check_only || has_kernels) && share_cores(command);
  if (shares && has_kernels && !options.check_only) {
    command.environment.emplace_back(judge_alone_shares_name, "1");
  }
  command.hello_s += own_ops_limit_s(options) - python_limit_s;
  if (const std::string digest = own_ops_digest(); !digest.empty()) {
    command.environment.emplace_back(own_ops_digest_name, digest);
  }
  if (const auto launch = this_launch()) {
    command.environment.emplace_back(command_hash_name, std::to_string(launch->command_hash));
  }
  // Keeps the thread count fixed: a change would alter the order of a sum, and its bits.
  command.environment.emplace_back("OMP_DYNAMIC", "false");
  if (const std::string core = cpu::better_openblas_core(); !core.empty()) {
    command.environment.emplace_back("OPENBLAS_CORETYPE", core);
  }
  // Where nothing is timed, tensors may lie on huge pages, whose first touch takes a quarter of the
  // time. A user's own setting stays.
  if (options.check_only && std::getenv("GLIBC_TUNABLES") == nullptr) {
    command.environment.emplace_back("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");
  }
  return command;
}

void share_cores_on(WorkerCommand& command, const std::vector<DeviceId>& lane) {
  const auto is_on_host = [](const DeviceId& id) {
    return id.backend == host_kind || id.backend == numa::traits().kind;
  };
  if (std::ranges::any_of(lane, is_on_host)) return;
  share_cores(command);
  // Threads of kernels for other devices are on no clock, and would spin beside the judge.
  std::erase_if(command.environment,
                [](const auto& set) { return set.first == judge_alone_shares_name; });
}

WorkerCommand probing_command(const SelectionOptions& options) {
  WorkerCommand command = worker_command(options);
  std::vector<DeviceId> first;
  for (const std::string& item : options.devices) {
    if (item == "all") return command;
    first.push_back({item.substr(0, item.find(':')), 0});
  }
  share_cores_on(command, first);
  return command;
}

std::function<std::string(const Record&)> replay_flags(const SelectionOptions& options) {
  return [options](const Record& record) {
    std::vector<std::string> words = replay_words(options, runs_on_simulated(record));
    for (std::string& word : words) word = shell_word(word);
    return join(words, " ");
  };
}

}  // namespace assay
