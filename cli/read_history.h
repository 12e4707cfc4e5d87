#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "reports/history/history.h"

namespace CLI {
class App;
}

namespace assay::cli {

/// Selects runs and rows for a history.
struct HistoryInput {
  std::vector<std::filesystem::path> paths;  // run directories, or folders of them
  std::string filter;
  std::vector<std::string> devices;
  std::string reference;
  double within_h = 6;
  bool skip_damaged = false;
};

void add_history_options(CLI::App& app, HistoryInput& input);

struct StoredHistory {
  History history;                       // without its changes, see find_changes
  std::vector<std::string> passed_over;  // unreadable runs, and why; reported too
};

/// Throws UsageError, also if no run could be read.
StoredHistory read_history(const HistoryInput& input);

}  // namespace assay::cli
