#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace assay::cli {

/// A subcommand: its options, and the work after they are parsed. `run` returns an exit code.
struct Command {
  CLI::App* app;
  std::function<int()> run;
  /// True if it takes words that are no options of its own, for another command.
  bool takes_rest = false;
};

// One file each.
Command add_ab(CLI::App& program);
Command add_bisect(CLI::App& program);
Command add_compare(CLI::App& program);
Command add_devices(CLI::App& program);
Command add_history(CLI::App& program);
Command add_limits(CLI::App& program);
Command add_list(CLI::App& program);
Command add_machines(CLI::App& program);
Command add_report(CLI::App& program);
Command add_run(CLI::App& program);
Command add_selftest(CLI::App& program);
Command add_soak(CLI::App& program);
Command add_worker(CLI::App& program);  // hidden

}  // namespace assay::cli
