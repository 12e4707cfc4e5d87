#include "session/life/describe_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <thread>

#include "kernels/core/clock.h"
#include "kernels/core/this_program.h"
#include "kernels/core/version.h"
#include "session/kernels/given_file.h"
#include "session/kernels/kernel_process.h"
#include "session/workers/worker_command.h"

namespace assay {
namespace {

constexpr auto recorded = std::to_array<std::string_view>(
    {"OMP_NUM_THREADS",   "OMP_DYNAMIC",          "OMP_PROC_BIND",         "OMP_PLACES",
     "OMP_WAIT_POLICY",   "OMP_THREAD_LIMIT",     "OMP_MAX_ACTIVE_LEVELS", "GOMP_CPU_AFFINITY",
     "GOMP_SPINCOUNT",    "DNNL_MAX_CPU_ISA",     "ONEDNN_MAX_CPU_ISA",    "OPENBLAS_CORETYPE",
     "GLIBC_TUNABLES",    "CUDA_VISIBLE_DEVICES", "CUDA_MODULE_LOADING",   "NCCL_ALGO",
     "NCCL_PROTO",        "NCCL_P2P_DISABLE",     "NVIDIA_TF32_OVERRIDE",  "ASSAY_CUDA_LIBS",
     "ASSAY_BACKEND_PATH"});

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown-host";
}

/// Note if the variables ask for more threads than there are cores; empty otherwise.
std::string crowding(const std::vector<std::pair<std::string, std::string>>& environment) {
  const auto asked = std::ranges::find(environment, "OMP_NUM_THREADS",
                                       &std::pair<std::string, std::string>::first);
  if (asked == environment.end()) return {};
  const std::string& text = asked->second;  // the first of nested regions: "4,2"
  std::int64_t threads = 0;
  std::from_chars(text.data(), text.data() + text.size(), threads);
  const std::int64_t cores = std::thread::hardware_concurrency();
  if (cores == 0 || threads <= cores) return {};
  return fmt::format(
      "OMP_NUM_THREADS asks for {} threads where {} can run: they take turns, and the times are "
      "those of waiting",
      threads, cores);
}

}  // namespace

std::span<const std::string_view> recorded_variables() { return recorded; }

RunInfo describe_run(const SelectionOptions& options, const std::vector<DeviceId>& devices,
                     const protocol::Hello& machine) {
  RunInfo run;
  run.started_at = utc_now();
  run.host = host_name();
  run.run_id = fmt::format("{}-{}-{:08x}", run.started_at, run.host, std::random_device()());
  run.command_line = command_line();
  run.sessions = {{.started_at = run.started_at, .command_line = run.command_line}};
  run.version = version::number;
  run.git_revision = version::git_revision;
  run.build_type = version::build_type;
  run.compiler = version::compiler;
  run.build_id = version::build_id;
  run.seed = options.seed;
  run.profile = options.cases.profile;
  run.check_only = options.check_only;
  run.kernels = given_kernels(options);
  run.kernels_name = machine.kernels.name;
  run.own_ops = given_file(options.own_ops);
  run.problem = given_file(options.problem);
  for (const DeviceId& id : devices) {
    const auto found = std::ranges::find(machine.devices, to_text(id), &DeviceInfo::device);
    if (found != machine.devices.end()) run.devices.push_back(*found);
  }
  // Takes the values of the workers, which do the work.
  const auto set_for_workers = worker_command(options).environment;
  for (const std::string_view name : recorded) {
    const auto set =
        std::ranges::find(set_for_workers, name, &std::pair<std::string, std::string>::first);
    if (set != set_for_workers.end()) {
      run.environment.push_back(*set);
    } else if (const char* value = std::getenv(name.data())) {
      run.environment.emplace_back(name, value);
    }
  }
  if (std::string note = crowding(run.environment); !note.empty()) run.notes.push_back(note);
  return run;
}

}  // namespace assay
