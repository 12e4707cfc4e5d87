#include "cli/selftest/selftest_run.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "harness/supervise/child_process.h"
#include "kernels/core/file_descriptor.h"
#include "kernels/core/names.h"
#include "reports/files/results_reader.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

/// A folder that is removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "assay-selftest-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), "mkdtemp " + pattern);
    }
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Runs this very program without its output. Returns its exit code, or 128 and the signal.
int run_self(std::vector<std::string> arguments,
             std::vector<std::pair<std::string, std::string>> environment) {
  arguments.insert(arguments.begin(), fs::read_symlink("/proc/self/exe").string());
  const FileDescriptor nowhere(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (nowhere.get() < 0) {
    throw std::system_error(errno, std::generic_category(), "cannot open /dev/null");
  }
  const pid_t pid = start_child({.arguments = std::move(arguments),
                                 .environment = std::move(environment),
                                 .streams = {nowhere.get(), nowhere.get(), nowhere.get()}});
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Outcome run_injected(int simulated, const Injection& injection,
                     const std::vector<std::string>& selection) {
  const TemporaryFolder folder;
  std::vector<std::string> arguments{"run",      "--quiet",
                                     "--device", injection.device,
                                     "--seed",   std::to_string(injection.seed),
                                     "--out",    (folder.path() / "run").string()};
  arguments.insert(arguments.end(), selection.begin(), selection.end());
  std::vector<std::pair<std::string, std::string>> environment;
  if (!injection.fault_variable.empty()) {
    environment.emplace_back(injection.fault_variable, injection.fault);
  } else {
    arguments.insert(arguments.end(), {"--sim-devices", std::to_string(simulated)});
    if (injection.is_cheat) {
      const fs::path program = fs::read_symlink("/proc/self/exe");
      const fs::path cheats = program.parent_path().parent_path() / "lib/assay/kernel_cheats.so";
      arguments.insert(arguments.end(), {"--kernels", cheats.string()});
      environment.emplace_back("ASSAY_CHEAT", injection.fault);
    } else if (!injection.fault.empty()) {
      arguments.insert(arguments.end(), {"--sim-fault", std::string(injection.fault)});
    }
  }
  if (!injection.without.empty()) {
    arguments.insert(arguments.end(), {"--without-check", std::string(injection.without)});
  }
  Outcome outcome;
  outcome.exit_code = run_self(std::move(arguments), std::move(environment));
  const fs::path results = folder.path() / "run/results.csv";
  if (!fs::exists(results)) return outcome;
  outcome.rows = read_results_file(results);
  return outcome;
}

Outcome run_case(const Pairing& pairing, Injection injection) {
  injection.is_cheat = pairing.is_cheat;
  std::vector<std::string> selection{"--case", std::string(pairing.case_id)};
  for (const std::string& word : split(pairing.options, ' ')) selection.push_back(word);
  return run_injected(pairing.devices, injection, selection);
}

}  // namespace assay::cli
