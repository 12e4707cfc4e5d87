#pragma once

#include <string>

#include "reports/page/content.h"

// Sentences that say what a page found.
namespace assay::page {

/// The verdict on all that a page shows: PASSED, FAILED or INCOMPLETE.
struct Word {
  std::string word;
  std::string sign;
  std::string kind;  // its style: "passed", "failed", "open"
};
Word passed_word();
Word failed_word();
Word incomplete_word();
Word word_of(const RunSource& run);
Word word_of(const PairedSource& source);

/// "All 2,446 results are right; 105 of 199 times were taken on a busy machine."
std::string run_sentence(const RunSource& run);
/// "32 of 1,700 results are not right: 28 wrong, 3 crashed, 1 timed out"; empty if none is.
std::string not_right(const RunSource& run);
/// "beta is 1.80× faster than alpha"; of more columns, how long the others take; empty if nothing
/// was timed on two columns.
std::string speed_sentence(const Content& content);
std::string paired_sentence(const PairedSource& source);
/// "2 changes in 60 runs: add +17.8%, exp −4.0%"
std::string history_sentence(const HistorySource& source);

}  // namespace assay::page
