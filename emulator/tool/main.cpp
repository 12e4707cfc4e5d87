#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "emulator/tool/command.h"

// emulate-gpu: runs a command with emulated GPUs and tells what the emulator found.
namespace emulator {
namespace {

namespace fs = std::filesystem;

constexpr const char* examples = R"(
The program has to be linked with CUDA's shared runtime and to carry PTX as plain text:
  nvcc -cudart shared --no-compress -lineinfo -gencode arch=compute_80,code=compute_80 add.cu -o add
Examples:
  emulate-gpu ./add                            every check; the first report ends the program's use of the GPU
  emulate-gpu --racecheck --reports all ./add  races alone, and go on after each
  emulate-gpu --gpus 2 --like a100 --seed 7 ./add
  emulate-gpu --json reports.jsonl --suppress 'racecheck scan*' ./add
Exit code: the program's; 86 (--error-exitcode) if there were reports; 87 if nothing used a GPU; 126 or 127 if the
command cannot be started. No time that a program measures here is one of a GPU.)";

constexpr int code_of_nothing = 87, code_of_no_emulator = 4;

struct Options {
  std::string gpus = "1", like = "h100", seed, fault, reports, json, suppressions_file;
  std::vector<std::string> suppressions, command;
  std::map<std::string, bool> checks = {
      {"memcheck", false}, {"initcheck", false}, {"racecheck", false}, {"synccheck", false}};
  int error_exit_code = 86;
  bool leaks = false, drop_in = false, may_be_unused = false;
};

void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

std::string joined(const std::vector<std::string>& parts, char with) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : std::string(1, with)) + part;
  return text;
}

/// Those of the file come behind those of the options, one a line.
std::string suppressions_of(const Options& options) {
  std::string text = joined(options.suppressions, '\n');
  if (options.suppressions_file.empty()) return text;
  std::ifstream file(options.suppressions_file);
  for (std::string line; std::getline(file, line);) text += "\n" + line;
  return text;
}

void set_variables(const Options& options) {
  set("ASSAY_EMULATED_GPUS", options.gpus);
  set("ASSAY_EMULATED_GPU", options.like);
  if (!options.seed.empty()) set("ASSAY_EMULATOR_SEED", options.seed);
  if (!options.fault.empty()) set("ASSAY_EMULATOR_FAULT", options.fault);
  if (!options.reports.empty()) set("ASSAY_EMULATOR_REPORTS", options.reports);
  if (options.leaks) set("ASSAY_EMULATOR_LEAKS", "1");
  std::vector<std::string> checks;
  for (const auto& [name, wanted] : options.checks)
    if (wanted) checks.push_back(name);
  if (!checks.empty()) set("ASSAY_EMULATOR_CHECKS", joined(checks, ','));
  if (const std::string text = suppressions_of(options); !text.empty())
    set("ASSAY_EMULATOR_SUPPRESS", text);
}

/// The libraries lie beside this program: bin/emulate-gpu, lib/….
bool set_libraries(const Options& options) {
  const fs::path lib = fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib";
  if (!fs::exists(lib / "emulated/libcuda.so.1")) {
    fmt::print(stderr, "emulate-gpu: no libraries of the emulator in {}\n", lib.string());
    return false;
  }
  std::string path = (lib / "emulated").string() + ":" + lib.string();
  // Not for all: a program that brings NVIDIA's runtime along, as PyTorch does, is to find no GPU.
  if (options.drop_in || needs_cudart(options.command.front()))
    path = (lib / "dropin").string() + ":" + path;
  if (const char* before = std::getenv("LD_LIBRARY_PATH"); before != nullptr && *before != '\0')
    path += std::string(":") + before;
  set("LD_LIBRARY_PATH", path);
  return true;
}

/// The file of the reports: the user's, or one that is removed in the end.
class ReportsFile {
 public:
  explicit ReportsFile(const std::string& wanted)
      : is_kept_(!wanted.empty()),
        path_(is_kept_ ? fs::absolute(wanted)
                       : fs::temp_directory_path() / fmt::format("emulate-gpu-{}", getpid())) {
    fs::remove(path_);
    set("ASSAY_EMULATOR_JSON", path_.string());
  }
  ~ReportsFile() {
    if (!is_kept_) fs::remove(path_);
  }
  ReportsFile(const ReportsFile&) = delete;
  ReportsFile& operator=(const ReportsFile&) = delete;

  /// The runtime makes it when it is first used.
  bool was_used() const { return fs::exists(path_); }
  std::map<std::string, int> counts_by_check() const {
    std::map<std::string, int> counts;
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);)
      ++counts[nlohmann::json::parse(line, nullptr, false).value("check", "unreadable")];
    return counts;
  }

 private:
  const bool is_kept_;
  const fs::path path_;
};

/// Tells what was found. Returns the exit code.
int conclude(const Options& options, const ReportsFile& file, int code) {
  if (!file.was_used()) {
    if (options.may_be_unused || code != 0) return code;
    fmt::print(
        stderr,
        "emulate-gpu: the command used no emulated GPU. A CUDA program needs the shared runtime: "
        "nvcc -cudart shared\n");
    return code_of_nothing;
  }
  const std::map<std::string, int> counts = file.counts_by_check();
  if (counts.empty() || options.error_exit_code == 0) return code;
  std::string text;
  for (const auto& [check, count] : counts)
    text += fmt::format("{}{} of {}", text.empty() ? "" : ", ", count, check);
  fmt::print(stderr, "emulate-gpu: reports: {}\n", text);
  return options.error_exit_code;
}

void declare(CLI::App& app, Options& options) {
  app.add_option("--gpus", options.gpus, "how many GPUs (default 1)");
  app.add_option(
      "--like", options.like,
      "which: v100, t4, rtx3090, rtx3050, a100, l40s, h100, h200, b200, … (default h100)");
  app.add_option("--seed", options.seed,
                 "of the order in which blocks, warps and streams run (default 0)");
  for (auto& [name, wanted] : options.checks)
    app.add_flag("--" + name, wanted, "this check alone, or with others that are named");
  app.add_option("--reports", options.reports,
                 "go on until there are so many reports, or 'all' (default 1)");
  app.add_option("--json", options.json, "write each report to this file too, as a line of JSON");
  app.add_option("--suppress", options.suppressions,
                 "'CHECK KERNEL': tell no findings of this check in kernels of that name (*, ?)")
      ->allow_extra_args(false);
  app.add_option("--suppressions", options.suppressions_file, "a file of such lines")
      ->check(CLI::ExistingFile);
  app.add_option("--error-exitcode", options.error_exit_code,
                 "exit code after reports (default 86); 0: the command's")
      ->check(CLI::Range(0, 255));
  app.add_flag("--leaks", options.leaks, "list what is not released at the end");
  app.add_flag("--drop-in", options.drop_in,
               "the emulated libcudart also for what a script loads, as a library by ctypes");
  app.add_flag("--allow-unused", options.may_be_unused, "a command that uses no GPU is no error");
  app.add_option("--fault", options.fault, "mistakes of libraries, by commas");
  app.add_option("command", options.command, "the command and its arguments")->required();
  app.set_version_flag("--version", "emulate-gpu " EMULATOR_VERSION);
  app.positionals_at_end();
  app.footer(examples);
}

int main_of_tool(int count, char** words) {
  Options options;
  CLI::App app("Runs a command with emulated GPUs, on a host without one, and checks its kernels.",
               "emulate-gpu");
  declare(app, options);
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (!set_libraries(options)) return code_of_no_emulator;
  set_variables(options);
  // Nothing is to be concluded: the command takes this process's place.
  if (options.error_exit_code == 0 && options.may_be_unused && options.json.empty())
    return become_command(options.command);
  const ReportsFile file(options.json);
  return conclude(options, file, run_command(options.command));
}

}  // namespace
}  // namespace emulator

int main(int count, char** words) {
  try {
    return emulator::main_of_tool(count, words);
  } catch (const std::exception& error) {  // such as files that cannot be written
    fmt::print(stderr, "emulate-gpu: {}\n", error.what());
    return emulator::code_of_no_emulator;
  }
}
