#include "cli/selftest/selftest_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "kernels/core/names.h"
#include "reports/files/results_reader.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

/// A folder that is gone with the object.
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

/// Runs this very program with its output in `log`, and with one more variable in its environment
/// if one is named. Returns its exit code, or 128 and the signal.
int run_self(std::vector<std::string> arguments, const fs::path& log, std::string variable) {
  arguments.insert(arguments.begin(), fs::read_symlink("/proc/self/exe").string());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::vector<char*> environment;
  if (!variable.empty()) environment.push_back(variable.data());  // the first of a name counts
  for (char** word = environ; *word != nullptr; ++word) environment.push_back(*word);
  environment.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, argv[0], &files, nullptr, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw std::system_error(error, std::generic_category(), argv[0]);
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
  std::string variable;
  if (!injection.fault_variable.empty()) {
    variable = fmt::format("{}={}", injection.fault_variable, injection.fault);
  } else {
    arguments.insert(arguments.end(), {"--sim-devices", std::to_string(simulated)});
    if (!injection.fault.empty()) {
      arguments.insert(arguments.end(), {"--sim-fault", std::string(injection.fault)});
    }
  }
  if (!injection.without.empty()) {
    arguments.insert(arguments.end(), {"--without-check", std::string(injection.without)});
  }
  Outcome outcome;
  outcome.exit_code = run_self(arguments, folder.path() / "log", std::move(variable));
  const fs::path results = folder.path() / "run/results.csv";
  if (!fs::exists(results)) return outcome;
  outcome.rows = read_results_file(results);
  return outcome;
}

Outcome run_case(const Pairing& pairing, const Injection& injection) {
  std::vector<std::string> selection{"--case", std::string(pairing.case_id)};
  for (const std::string& word : split(pairing.options, ' ')) selection.push_back(word);
  return run_injected(pairing.devices, injection, selection);
}

}  // namespace assay::cli
