#include "harness/execute/worker.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "cli/command.h"
#include "kernels/core/choice_file.h"
#include "kernels/core/freed_memory.h"
#include "kernels/core/status.h"
#include "kernels/device/launcher.h"
#include "kernels/sim/fault.h"
#include "session/kernels/kernel_process.h"
#include "session/kernels/own_ops.h"
#include "session/machine/backends.h"
#include "session/options/trial_options.h"
#include "session/process/exit_code.h"
#include "session/process/this_launch.h"
#include "session/workers/mpi_job.h"

namespace assay::cli {
namespace {

struct WorkerOptions {
  pid_t parent = 0;
  TrialOptions trials;
  double cap_s = EngineOptions{}.cap_s;
  std::int64_t block = 0;
  std::filesystem::path references;
  std::filesystem::path choices;
  bool releases_ranks = false;
};

EngineOptions engine_options(const WorkerOptions& options) {
  EngineOptions engine{options.trials};
  engine.cap_s = options.cap_s;
  engine.block = options.block;
  engine.references = options.references;
  return engine;
}

int execute(const WorkerOptions& options) {
  if (options.releases_ranks) {
    let_ranks_go(this_launch().value());
    return ok;
  }
  keep_freed_memory();
  use_choices(options.choices);
  // Precedes the modules, so that the output or hang of a driver that is loading is contained.
  const WorkerChannel channel(options.parent != 0 ? options.parent : getppid());
  std::vector<sim::Fault> faults;
  for (const std::string& fault : options.trials.sim_faults) {
    faults.push_back(sim::parse_fault(fault));
  }
  const auto backends = all_backends(options.trials.sim_devices, std::move(faults));
  protocol::Hello hello = hello_of(*backends);
  if (may_run_code_of_others(options.trials)) hide_memory();
  try {
    answer_for_own_ops(options.trials, [&](bool is_open) {
      channel.send(protocol::encode(protocol::ReferenceAsked{is_open}));
    });
  } catch (const UsageError& refusal) {
    hello.kernels_refused = refusal.what();
    channel.send(protocol::encode(hello));
    return usage;
  }
  if (options.trials.kernels.empty()) {
    serve(channel, hello, *backends, engine_options(options));
    return ok;
  }
  std::optional<providers::ProvidedBackends> provided;
  try {
    provided.emplace(*backends, [&] { return start_kernel_process(options.trials); });
  } catch (const UsageError& refusal) {
    hello.kernels_refused = refusal.what();
    channel.send(protocol::encode(hello));
    return usage;
  }
  hello = hello_of(provided->backends());
  hello.kernels = provided->offers();
  serve(channel, hello, provided->backends(), engine_options(options));
  return ok;
}

}  // namespace

Command add_worker(CLI::App& program) {
  auto options = std::make_shared<WorkerOptions>();
  CLI::App* app =
      program.add_subcommand("worker", "executes trials for a parent (docs/protocol.md)");
  app->group("");  // not in --help: users start `run`
  app->add_option("--parent", options->parent);
  app->add_option("--cap", options->cap_s);
  app->add_option("--block", options->block);
  app->add_flag("--release-ranks", options->releases_ranks);
  add_worker_options(*app, options->trials);
  app->add_option("--references", options->references);
  app->add_option("--choices", options->choices);
  return {app, [options] { return execute(*options); }};
}

}  // namespace assay::cli
