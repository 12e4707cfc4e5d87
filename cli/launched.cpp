#include "cli/launched.h"

#include <chrono>
#include <thread>

#include "cli/exit_code.h"
#include "kernels/base/backends.h"
#include "kernels/base/launcher.h"
#include "kernels/cpu/backend.h"
#include "kernels/remote/backend.h"
#include "kernels/remote/server.h"

namespace assay::cli {
namespace {

Backends own_backends() {
  Backends backends;
  backends.add(cpu::make_backend());
  for (const auto& folder : module_folders()) backends.load_modules(folder);
  return backends;
}

}  // namespace

int serve_rank(const LaunchInfo& launch) {
  const Backends backends = own_backends();
  const auto job = join_job(launch, module_folders());
  const remote::OwnDevice own = remote::own_device(*job, backends, launch.local_rank);
  remote::serve(*job, *own.backend, own.index);
  return ok;
}

void let_ranks_go(const LaunchInfo& launch) {
  Backends backends = own_backends();
  const auto backend = remote::make_backend(
      launch, [&] { return join_job(launch, module_folders()); }, backends);
  backend->open(0);  // joins the job; its end lets the others go
}

void release_ranks(WorkerCommand command) {
  constexpr double join_s = 60;
  constexpr double term_s = 2;
  command.arguments.emplace_back("--release-ranks");
  WorkerProcess worker(command);
  const Deadline deadline = after(join_s);
  while (!worker.silent() && std::chrono::steady_clock::now() < deadline) {
    worker.receive();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  worker.stop(term_s, term_s);
}

}  // namespace assay::cli
