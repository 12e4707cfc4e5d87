#include "session/kernels/kernel_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "kernels/core/this_program.h"
#include "session/console/stderr_message.h"
#include "session/kernels/given_file.h"
#include "session/kernels/own_ops.h"
#include "session/kernels/python_program.h"
#include "session/kernels/serve_kernels.h"
#include "session/kernels/socket_child.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

fs::path installation() { return this_program().parent_path().parent_path(); }

/// File of kernels that ship with the program: "kernels_torch.py" for torch, "kernels_onednn.so"
/// for onednn.
fs::path shipped_file(const std::string& word) {
  const fs::path library = library_folder() / ("kernels_" + word + ".so");
  return fs::exists(library) ? library : python_folder() / "assay" / ("kernels_" + word + ".py");
}

std::vector<std::string> shipped_words() {
  constexpr std::string_view begin = "kernels_";
  std::vector<std::string> words;
  std::error_code none;
  for (const auto& [folder, extension] :
       {std::pair{python_folder() / "assay", ".py"}, {library_folder(), ".so"}}) {
    for (const auto& file : fs::directory_iterator(folder, none)) {
      const std::string stem = file.path().stem().string();
      if (stem.starts_with(begin) && file.path().extension() == extension) {
        words.push_back(stem.substr(begin.size()));
      }
    }
  }
  std::ranges::sort(words);
  return words;
}

/// A word of kernels that ship is one also where a file or folder, such as that of a run, has its
/// name: "./torch" names that.
bool is_word(const std::string& kernels) {
  return kernels.find_first_of("/.") == std::string::npos &&
         (fs::exists(shipped_file(kernels)) || !fs::exists(kernels));
}

/// Solutions of a folder of problems may be a folder too.
bool is_folder(const TrialOptions& options) {
  return !options.problem.empty() && !is_word(options.kernels) && fs::is_directory(options.kernels);
}

fs::path file_of(const std::string& kernels) {
  return is_word(kernels) ? shipped_file(kernels) : fs::path(kernels);
}

bool is_python(const TrialOptions& options) {
  return is_folder(options) || file_of(options.kernels).extension() == ".py";
}

ChildCommand command_of(const TrialOptions& options, int socket) {
  ChildCommand command{.streams = {socket, STDERR_FILENO, STDERR_FILENO}};
  // As many threads as our own kernels take: PyTorch alone would take one a physical core.
  if (std::getenv("OMP_NUM_THREADS") == nullptr) {
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    command.environment.emplace_back("OMP_NUM_THREADS", std::to_string(cores));
  }
  if (std::getenv(judge_alone_shares_name) != nullptr) {
    command.withheld = {judge_alone_shares_name, "OMP_WAIT_POLICY"};
    command.environment.emplace_back("OMP_PROC_BIND", "true");
  }
  if (is_python(options)) {
    // Its modules are not beside the Python.
    const char* folders = std::getenv("ASSAY_BACKEND_PATH");
    const std::string others = folders == nullptr ? "" : ":" + std::string(folders);
    command.environment.emplace_back("ASSAY_BACKEND_PATH", library_folder().string() + others);
    command.arguments = {find_in_path(python_of(options)).string(),
                         (python_folder() / "assay" / "_host.py").string()};
    if (!options.problem.empty()) {
      command.arguments.insert(command.arguments.end(), {"--problem", options.problem});
    } else if (!options.own_ops.empty()) {
      command.arguments.insert(command.arguments.end(), {"--own-ops", options.own_ops});
    }
    command.arguments.insert(command.arguments.end(),
                             {(library_folder() / kernel_host_file).string(), options.kernels});
  } else {
    command.arguments = {this_program().string(), serve_kernels_name,
                         file_of(options.kernels).string()};
    if (!options.library.empty()) {
      command.environment.emplace_back("ASSAY_LIBRARY", options.library);
    }
  }
  const std::vector<std::string> words = host_words(options);
  command.arguments.insert(command.arguments.end(), words.begin(), words.end());
  return command;
}

/// Ends this process as that one has ended.
[[noreturn]] void end_like(SocketChild& child, const std::string& kernels) {
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
  if (!options.library.empty() && (kernels.empty() || !is_word(kernels) || is_python(options))) {
    throw UsageError(
        "--library: nothing opens one here; choose openblas, mkl or cublas by --kernels");
  }
  if (kernels.empty()) return;
  if (is_word(kernels)) {
    if (fs::exists(shipped_file(kernels))) {
      // found
    } else if (const auto words = shipped_words(); !words.empty()) {
      throw UsageError("--kernels: " + unknown_name("file or word", kernels, words));
    } else {
      throw UsageError(fmt::format("--kernels: there is no file '{}'", kernels));
    }
  } else if (!fs::is_regular_file(kernels) && !is_folder(options)) {
    throw UsageError(fmt::format("--kernels: there is no file '{}'", kernels));
  }
  if (!is_python(options)) return;
  check_python(options);
  if (!fs::exists(library_folder() / kernel_host_file)) {
    throw UsageError(fmt::format("--kernels: '{}' is missing; it is built and installed with assay",
                                 (library_folder() / kernel_host_file).string()));
  }
}

double opening_limit_s(const TrialOptions& options) {
  constexpr double library_s = 10;
  return is_python(options) ? python_limit_s : library_s;
}

GivenFile given_kernels(const TrialOptions& options) {
  if (options.kernels.empty()) return {};
  if (is_word(options.kernels)) {
    return {.path = options.kernels, .crc32 = given_file(file_of(options.kernels)).crc32};
  }
  return given_file(options.kernels);
}

std::unique_ptr<providers::KernelProcess> start_kernel_process(const TrialOptions& options) {
  auto [child, socket] = start_with_socket([&](int end) { return command_of(options, end); });
  return std::make_unique<providers::KernelProcess>(
      std::move(socket), [child = child, kernels = options.kernels] { end_like(*child, kernels); },
      providers::Opening{.limit_s = opening_limit_s(options),
                         .how_it_ended = [child = child] { return child->how_it_ended(); },
                         .left = [child = child] { child->wait_for_end(); },
                         .definitions = own_definitions()});
}

void hide_memory() { prctl(PR_SET_DUMPABLE, 0); }

}  // namespace assay
