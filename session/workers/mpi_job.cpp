#include "session/workers/mpi_job.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <thread>

#include "kernels/core/this_program.h"
#include "kernels/device/backends.h"
#include "kernels/device/launcher.h"
#include "kernels/ranks/backend.h"
#include "kernels/ranks/traits.h"
#include "kernels/remote/server.h"
#include "session/console/stderr_message.h"
#include "session/machine/backends.h"
#include "session/process/exit_code.h"
#include "session/workers/worker_command.h"

namespace assay {

int serve_rank(const LaunchInfo& launch, WorkerCommand command) {
  // Starts again with the variables of rank 0's worker: libraries read them when they are loaded.
  constexpr const char* serves = "ASSAY_SERVES_RANK";
  if (std::getenv(serves) == nullptr) {
    share_cores_on(command, {{ranks::traits().kind, launch.rank}});
    for (const auto& [name, value] : command.environment) setenv(name.c_str(), value.c_str(), 1);
    setenv(serves, "1", 1);
    std::vector<std::string> words = command_line();
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execv("/proc/self/exe", arguments.data());
    throw std::system_error(errno, std::generic_category(), "a rank cannot start itself again");
  }
  const Backends backends = own_backends();
  const auto group = join_job(launch, module_folders());
  try {
    const ranks::OwnDevice own = ranks::own_device(*group, backends, launch);
    remote::serve(*group, ranks::served(own, group->rank()));
  } catch (const std::exception& error) {
    // Does not finalize MPI: all other ranks would have to do so too.
    say("assay: rank {}: {}\n", launch.rank, error.what());
    std::_Exit(infrastructure);
  }
  return ok;
}

void let_ranks_go(const LaunchInfo& launch) {
  Backends backends = own_backends();
  const auto backend = ranks::make_backend(
      launch, [&] { return join_job(launch, module_folders()); }, backends);
  backend->open(0);  // joins the job; closing releases the others
}

bool release_ranks(WorkerCommand command) {
  constexpr double join_s = 60;
  constexpr double leave_s = 2;
  command.arguments.emplace_back("--release-ranks");
  WorkerProcess worker(command);
  const Deadline deadline = after(join_s);
  while (!worker.silent() && std::chrono::steady_clock::now() < deadline) {
    worker.receive();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  worker.stop(leave_s);
  return worker.exit_description() == "exit code 0";
}

}  // namespace assay
