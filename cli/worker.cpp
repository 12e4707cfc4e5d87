#include "harness/execute/worker.h"

#include <malloc.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/backends.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/run/mpi_job.h"
#include "kernels/device/launcher.h"
#include "kernels/sim/fault.h"

namespace assay::cli {
namespace {

struct WorkerOptions {
  pid_t parent = 0;
  EngineOptions engine;
  std::string without_check;
  bool strict = false;
  int sim_devices = 0;
  bool releases_ranks = false;
  std::vector<std::string> sim_faults;
};

/// Keeps freed memory in the process: trials use tensors of the same sizes repeatedly. By default
/// the allocator returns each to the kernel, which clears its pages again: a quarter of a check.
void keep_freed_memory() {
  constexpr int most_bytes = 1 << 30;
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, most_bytes);
}

int execute(const WorkerOptions& options) {
  if (options.releases_ranks) {
    let_ranks_go(this_launch().value());
    return ok;
  }
  keep_freed_memory();
  // Before the modules, so that the output or hang of a driver that is loading is contained.
  const WorkerChannel channel(options.parent != 0 ? options.parent : getppid());
  std::vector<sim::Fault> faults;
  for (const std::string& fault : options.sim_faults) faults.push_back(sim::parse_fault(fault));
  const auto backends = all_backends(options.sim_devices, std::move(faults));
  EngineOptions engine = options.engine;
  if (!options.without_check.empty()) engine.checks = Checks(parse_check(options.without_check));
  if (options.strict) engine.deviations = {};
  serve(channel, *backends, engine);
  return ok;
}

}  // namespace

Command add_worker(CLI::App& program) {
  auto options = std::make_shared<WorkerOptions>();
  CLI::App* app =
      program.add_subcommand("worker", "executes trials for a parent (docs/protocol.md)");
  app->group("");  // not in --help: users start `run`
  app->add_option("--parent", options->parent);
  app->add_option("--seed", options->engine.seed);
  app->add_option("--cap", options->engine.cap_s);
  app->add_option("--soak", options->engine.soak);
  app->add_option("--block", options->engine.block);
  app->add_flag("--strict", options->strict);
  app->add_flag("--release-ranks", options->releases_ranks);
  app->add_option("--without-check", options->without_check);
  app->add_option("--sim-devices", options->sim_devices);
  app->add_option("--sim-fault", options->sim_faults)->allow_extra_args(false);
  app->add_option("--references", options->engine.references);
  return {app, [options] { return execute(*options); }};
}

}  // namespace assay::cli
