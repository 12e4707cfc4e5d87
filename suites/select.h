#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/plan/case.h"
#include "suites/growth.h"
#include "suites/suite.h"

namespace assay {

/// The user's choice of cases, in the text of the command line.
struct Selection {
  std::vector<std::string> suites;  // empty: all
  std::string filter;               // POSIX extended regex, searched in case ids
  std::vector<std::string> cases;   // literal ids
  std::string profile = "default";
  std::vector<std::string> axes;  // "n=1,2,3": replaces the values of a parameter, or of dtype
  std::filesystem::path case_file;
  std::string shard;  // "I/N", I from 1
  Growth growth;      // of a profile's cases, whose ids filter and shard see
};

/// Throws UsageError for text that `select_cases` refuses with any growth. A profile of which the
/// filter leaves nothing passes: with another growth, ids are others.
void check_selection(const Selection& selection);

/// Returns the cases, each once, in a stable order. Literal ids and a case file replace the
/// profile; suites, filter and shard apply to all. Throws UsageError for unknown names, malformed
/// text and an empty selection.
std::vector<Case> select_cases(const Selection& selection);

}  // namespace assay
