#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "reports/compare/environment_differences.h"
#include "reports/libraries/libraries.h"
#include "reports/text/sections.h"

namespace assay {

/// Content of a report on the kernels of several runs.
struct LibrariesFacts {
  std::span<const LibraryRun> runs;
  std::span<const std::string> directories;              // of each run
  std::span<const std::vector<Difference>> differences;  // of each run from the first
  const LibraryTable& table;
  std::size_t longest_list = 20;
};

/// Sections: which library is right, differences of the environment, right and wrong by op, times
/// by op. Lists are cut at `longest_list`. Sections without content are left out.
std::vector<Section> libraries_sections(const LibrariesFacts& facts);

/// Returns all counts in one line.
std::string libraries_summary(const LibrariesFacts& facts);

/// "12 right, 2 wrong", without zeros; "not offered" where the kernels lack all of them.
std::string outcomes_text(const LibraryOutcomes& outcomes);

}  // namespace assay
