#include "session/kernels/kernel_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "harness/supervise/child_process.h"
#include "kernels/core/clock.h"
#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "kernels/core/this_program.h"
#include "kernels/cpu/all_cores.h"
#include "reports/files/checksum.h"
#include "reports/files/csv_file.h"
#include "session/console/stderr_message.h"
#include "session/kernels/serve_kernels.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

fs::path installation() { return this_program().parent_path().parent_path(); }

fs::path library_folder() { return installation() / "lib" / "assay"; }

fs::path python_folder() { return library_folder() / "python"; }

/// Python file of kernels that ship with the program, "kernels_torch.py" for torch.
fs::path shipped_file(const std::string& word) {
  return python_folder() / "assay" / ("kernels_" + word + ".py");
}

std::vector<std::string> shipped_words() {
  constexpr std::string_view begin = "kernels_";
  std::vector<std::string> words;
  std::error_code none;
  for (const auto& file : fs::directory_iterator(python_folder() / "assay", none)) {
    const std::string stem = file.path().stem().string();
    if (stem.starts_with(begin) && file.path().extension() == ".py") {
      words.push_back(stem.substr(begin.size()));
    }
  }
  return words;
}

bool is_word(const std::string& kernels) {
  return kernels.find_first_of("/.") == std::string::npos && !fs::exists(kernels);
}

bool is_python(const std::string& kernels) {
  return is_word(kernels) || fs::path(kernels).extension() == ".py";
}

/// Program of that name or path; empty if there is none.
fs::path find_in_path(const std::string& program) {
  const auto is_program = [](const fs::path& file) {
    return fs::is_regular_file(file) && access(file.c_str(), X_OK) == 0;
  };
  if (program.find('/') != std::string::npos)
    return is_program(program) ? fs::path(program) : fs::path();
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "" : path, ':')) {
    if (const fs::path file = fs::path(folder) / program; is_program(file)) return file;
  }
  return {};
}

/// Name or path of the Python. An environment that the program is installed in names its own by the
/// variable (docs/package.md).
std::string python_of(const TrialOptions& options) {
  if (!options.python.empty()) return options.python;
  const char* python = std::getenv("ASSAY_PYTHON");
  return python == nullptr || *python == '\0' ? "python3" : python;
}

ChildCommand command_of(const TrialOptions& options, int socket) {
  ChildCommand command{.streams = {socket, STDERR_FILENO, STDERR_FILENO}};
  // As many threads as our own kernels take: PyTorch alone would take one a physical core.
  if (std::getenv("OMP_NUM_THREADS") == nullptr) {
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    command.environment.emplace_back("OMP_NUM_THREADS", std::to_string(cores));
  }
  if (std::getenv(judge_shares_name) != nullptr) {
    command.withheld = {judge_shares_name, "OMP_WAIT_POLICY"};
    command.environment.emplace_back("OMP_PROC_BIND", "true");
  }
  if (is_python(options.kernels)) {
    // Its modules are not beside the Python.
    const char* folders = std::getenv("ASSAY_BACKEND_PATH");
    const std::string others = folders == nullptr ? "" : ":" + std::string(folders);
    command.environment.emplace_back("ASSAY_BACKEND_PATH", library_folder().string() + others);
    command.arguments = {find_in_path(python_of(options)).string(),
                         (python_folder() / "assay" / "_host.py").string(),
                         (library_folder() / kernel_host_file).string(), options.kernels};
  } else {
    command.arguments = {this_program().string(), serve_kernels_name, options.kernels};
  }
  const std::vector<std::string> words = host_words(options);
  command.arguments.insert(command.arguments.end(), words.begin(), words.end());
  return command;
}

/// Time limit for a process to end that has closed its socket, or whose judge has.
constexpr double end_s = 2;

/// The started process. Ended with the object.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  ~Child() { wait_for_end(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Its end as waitpid tells it; nothing if it had to be killed.
  std::optional<int> wait_for_end() {
    if (is_reaped_) return status_;
    int status = 0;
    pid_t ended = 0;
    for (const Deadline deadline = after(end_s); ended == 0;) {
      ended = waitpid(pid_, &status, WNOHANG);
      if (ended != 0 || std::chrono::steady_clock::now() >= deadline) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (ended == pid_) status_ = status;
    if (ended == 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    is_reaped_ = true;
    return status_;
  }
  /// "ended with exit code 3"
  std::string how_it_ended() {
    const std::optional<int> status = wait_for_end();
    if (!status) return "closed its descriptors";
    if (!WIFSIGNALED(*status)) return fmt::format("ended with exit code {}", WEXITSTATUS(*status));
    const int signal = WTERMSIG(*status);
    return fmt::format("was ended by signal {} ({})", signal, strsignal(signal));
  }

 private:
  pid_t pid_;
  bool is_reaped_ = false;
  std::optional<int> status_;
};

/// Ends this process as that one has ended.
[[noreturn]] void end_like(Child& child, const std::string& kernels) {
  const std::optional<int> status = child.wait_for_end();
  if (status && WIFSIGNALED(*status)) {
    std::signal(WTERMSIG(*status), SIG_DFL);
    std::raise(WTERMSIG(*status));
  }
  const int code = status && WIFEXITED(*status) ? WEXITSTATUS(*status) : 1;
  if (status) {
    say("{}: ended its process with exit code {}\n", kernels, code);
  } else {
    say("{}: closed its connection to the judge\n", kernels);
  }
  _exit(code == 0 ? 1 : code);
}

}  // namespace

fs::path include_folder() { return installation() / "include"; }

void check_kernels(const TrialOptions& options) {
  const std::string& kernels = options.kernels;
  if (kernels.empty()) return;
  if (is_word(kernels)) {
    if (fs::exists(shipped_file(kernels))) {
      // found
    } else if (const auto words = shipped_words(); !words.empty()) {
      throw UsageError("--kernels: " + unknown_name("file or word", kernels, words));
    } else {
      throw UsageError(fmt::format("--kernels: there is no file '{}'", kernels));
    }
  } else if (!fs::is_regular_file(kernels)) {
    throw UsageError(fmt::format("--kernels: there is no file '{}'", kernels));
  }
  if (!is_python(kernels)) return;
  if (const std::string python = python_of(options); find_in_path(python).empty()) {
    throw UsageError(fmt::format("--python: there is no program '{}'", python));
  }
  if (!fs::exists(library_folder() / kernel_host_file)) {
    throw UsageError(fmt::format("--kernels: '{}' is missing; it is built and installed with assay",
                                 (library_folder() / kernel_host_file).string()));
  }
}

double opening_limit_s(const TrialOptions& options) {
  constexpr double library_s = 10;
  constexpr double import_s =
      50;  // PyTorch from a cold disk; less than a worker may take (hello_s)
  return is_python(options.kernels) ? import_s : library_s;
}

GivenFile given_kernels(const TrialOptions& options) {
  if (options.kernels.empty()) return {};
  if (is_word(options.kernels)) {
    return {.path = options.kernels, .crc32 = crc32_text(read_text(shipped_file(options.kernels)))};
  }
  const fs::path path = fs::absolute(options.kernels).lexically_normal();
  return {.path = path, .crc32 = crc32_text(read_text(path))};
}

std::unique_ptr<providers::KernelProcess> start_kernel_process(const TrialOptions& options) {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  FileDescriptor own(ends[0]);
  FileDescriptor other(ends[1]);
  cpu::use_all_cores();  // or the kernels would inherit the one core of this thread
  const auto child = std::make_shared<Child>(start_child(command_of(options, other.get())));
  other.reset();  // or its end would not show
  return std::make_unique<providers::KernelProcess>(
      std::move(own), [child, kernels = options.kernels] { end_like(*child, kernels); },
      providers::Opening{.limit_s = opening_limit_s(options),
                         .how_it_ended = [child] { return child->how_it_ended(); },
                         .left = [child] { child->wait_for_end(); }});
}

void hide_memory() { prctl(PR_SET_DUMPABLE, 0); }

}  // namespace assay
