#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace assay::cli {

/// A subcommand: its options, and the work after they are parsed. `run` returns an exit code.
struct Command {
  CLI::App* app;
  std::function<int()> run;
  /// Where the words behind `--` go, for another command; null if it takes none.
  std::vector<std::string>* rest = nullptr;
};

// One file each.
Command add_ab(CLI::App& program);
Command add_bisect(CLI::App& program);
Command add_compare(CLI::App& program);
Command add_devices(CLI::App& program);
Command add_history(CLI::App& program);
Command add_libraries(CLI::App& program);
Command add_limits(CLI::App& program);
Command add_list(CLI::App& program);
Command add_machines(CLI::App& program);
Command add_report(CLI::App& program);
Command add_run(CLI::App& program);
Command add_selftest(CLI::App& program);
Command add_serve_kernels(CLI::App& program);  // hidden
Command add_soak(CLI::App& program);
Command add_worker(CLI::App& program);  // hidden

}  // namespace assay::cli
