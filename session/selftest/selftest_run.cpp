#include "session/selftest/selftest_run.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "kernels/core/this_program.h"
#include "reports/files/results_reader.h"
#include "session/process/own_run.h"
#include "session/selftest/own_op_tricks.h"

namespace assay {

namespace fs = std::filesystem;

namespace {

std::string last_line(const fs::path& file) {
  std::ifstream text(file);
  std::string line;
  std::string last;
  while (std::getline(text, line)) {
    if (!line.empty()) last = line;
  }
  return last;
}

}  // namespace

Outcome run_injected(int simulated, const Injection& injection,
                     const std::vector<std::string>& selection) {
  const TemporaryFolder folder;
  // Cheats run on the CPU, where all defences are up: what a process holds for a simulated device
  // cannot be read from outside. Only simulated devices go without a check.
  const bool is_on_cpu = injection.is_cheat && injection.without.empty();
  const std::string device = is_on_cpu ? "cpu" : injection.device;
  std::vector<std::string> arguments{"run",  "--quiet", "--device",
                                     device, "--seed",  std::to_string(injection.seed)};
  arguments.insert(arguments.end(), selection.begin(), selection.end());
  std::vector<std::pair<std::string, std::string>> environment;
  if (!injection.fault_variable.empty()) {
    environment.emplace_back(injection.fault_variable, injection.fault);
  } else {
    // Simulated devices are this run's alone: another selftest beside it has others.
    environment.emplace_back("ASSAY_LOCK_DIR", (folder.path() / "locks").string());
    if (!is_on_cpu) {
      arguments.insert(arguments.end(), {"--sim-devices", std::to_string(simulated)});
    }
    if (injection.is_own_op) {
      arguments.insert(arguments.end(), {"--own-ops", own_ops_file().string()});
      environment.emplace_back("ASSAY_CHEAT_PREFIX", own_ops_prefix);
    }
    if (injection.is_cheat) {
      const fs::path program = this_program();
      const fs::path cheats = program.parent_path().parent_path() / "lib/assay/kernel_cheats.so";
      arguments.insert(arguments.end(), {"--kernels", cheats.string()});
      environment.emplace_back("ASSAY_CHEAT", injection.fault);
      environment.emplace_back("ASSAY_CHEAT_FOLDER", (folder.path() / "cheat").string());
    } else if (!injection.fault.empty()) {
      arguments.insert(arguments.end(), {"--sim-fault", std::string(injection.fault)});
    }
  }
  if (!injection.without.empty()) {
    arguments.insert(arguments.end(), {"--without-check", std::string(injection.without)});
  }
  Outcome outcome;
  fs::path run;
  for (int i = 0; i < injection.runs; ++i) {
    run = folder.path() / ("run" + std::to_string(i));
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"--out", run.string()});
    const fs::path errors = folder.path() / "errors";
    outcome.exit_code = run_self(std::move(all), environment, errors);
    outcome.said = last_line(errors);
  }
  const fs::path results = run / "results.csv";
  if (!fs::exists(results)) return outcome;
  try {
    outcome.rows = read_results_file(results);
  } catch (const UsageError& torn) {  // by a full disk, for instance: nobody's usage
    outcome.said += fmt::format(" ({})", torn.what());
  }
  return outcome;
}

Outcome run_case(const Pairing& pairing, Injection injection) {
  injection.is_cheat = pairing.is_cheat;
  injection.runs = pairing.runs;
  injection.is_own_op = pairing.is_own_op;
  std::vector<std::string> selection{"--case", std::string(pairing.case_id)};
  for (const std::string& word : split(pairing.options, ' ')) selection.push_back(word);
  return run_injected(pairing.devices, injection, selection);
}

}  // namespace assay
