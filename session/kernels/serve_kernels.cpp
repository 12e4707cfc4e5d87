#include "session/kernels/serve_kernels.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "kernels/core/file_descriptor.h"
#include "kernels/core/freed_memory.h"
#include "kernels/core/status.h"
#include "kernels/cpu/all_cores.h"
#include "kernels/providers/host.h"
#include "kernels/sim/fault.h"
#include "session/machine/backends.h"
#include "session/process/exit_code.h"

namespace assay {
namespace {

/// The socket to the judge, from begin_kernels() on.
FileDescriptor& judge() {
  static FileDescriptor socket;
  return socket;
}

/// Takes the socket from standard input, which becomes empty: kernels may read it.
FileDescriptor take_socket() {
  FileDescriptor socket(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  const FileDescriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (socket.get() < 0 || nothing.get() < 0 || dup2(nothing.get(), STDIN_FILENO) < 0) {
    throw std::system_error(errno, std::generic_category(), "the judge's socket");
  }
  return socket;
}

int serve(const assay_kernel_table& table, const TrialOptions& options) {
  keep_freed_memory();
  try {
    providers::serve(std::move(judge()), table, [&] {
      std::vector<sim::Fault> faults;
      for (const std::string& fault : options.sim_faults) faults.push_back(sim::parse_fault(fault));
      return all_backends(options.sim_devices, std::move(faults));
    });
  } catch (const UsageError&) {
    return usage;  // the judge says it
  }
  return ok;
}

}  // namespace

void add_host_options(CLI::App& app, TrialOptions& options) {
  for (const char* flag : {"--sim-devices", "--sim-fault"}) add_trial_option(app, options, flag);
}

std::vector<std::string> host_words(const TrialOptions& options) {
  std::vector<std::string> words;
  if (options.sim_devices > 0) {
    words = {"--sim-devices", std::to_string(options.sim_devices)};
  }
  for (const std::string& fault : options.sim_faults) {
    words.insert(words.end(), {"--sim-fault", fault});
  }
  return words;
}

void begin_kernels() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  judge() = take_socket();
  pollfd other{judge().get(), 0, 0};
  if (poll(&other, 1, 0) > 0) providers::end_process();  // the judge died before prctl
  providers::announce(judge());
}

int serve_kernels(const assay_kernel_table& table, const std::vector<std::string>& words) {
  TrialOptions options;
  CLI::App app;
  add_host_options(app, options);
  app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  return serve(table, options);
}

int refuse_kernels(const std::string& why) {
  providers::refuse(std::move(judge()), why);
  return usage;
}

int serve_library(const std::string& file, const TrialOptions& options) {
  begin_kernels();
  cpu::use_all_cores();  // for a library with threads of its own
  // An absolute path: dlopen looks for names without a slash elsewhere.
  void* library = dlopen(std::filesystem::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* error = dlerror();
    return refuse_kernels("not a shared library that can be loaded: " + std::string(error));
  }
  // dlsym returns a pointer to an object; POSIX prescribes this cast to a function.
  const auto entry = reinterpret_cast<decltype(&assay_kernels)>(dlsym(library, "assay_kernels"));
  const assay_kernel_table* table = entry == nullptr ? nullptr : entry();
  if (entry != nullptr && table == nullptr) {
    const auto refusal =
        reinterpret_cast<decltype(&assay_refusal)>(dlsym(library, "assay_refusal"));
    if (refusal != nullptr) return refuse_kernels(refusal());
  }
  if (table == nullptr) {
    return refuse_kernels(
        "it has no function assay_kernels that gives a table (assay_kernel.h, docs/kernels.md)");
  }
  return serve(*table, options);
}

}  // namespace assay
