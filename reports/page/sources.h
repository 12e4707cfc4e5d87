#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/records/limit.h"
#include "harness/records/paired.h"
#include "reports/files/stored_run.h"
#include "reports/history/history.h"
#include "reports/text/outcomes.h"

// Sources of a page: files of run directories, of comparisons and of histories.
namespace assay::page {

/// A CSV file that goes into the page as it is. Figures name its rows by their number.
struct CsvSource {
  std::string name;  // "20261122T130000Z-node7/results.csv"
  std::string bytes;
};

/// One run.
struct RunSource {
  StoredRun run;
  std::vector<DeviceCells> devices;
  std::vector<Limit> limits;
  std::vector<Record> records;  // all rows of results.csv
  /// Result of each trial (see Outcomes), and its row: 0 is the first below the header.
  std::vector<Record> trials;
  std::vector<std::size_t> rows;
  Tally tally;
  RunVerdict verdict;
  CsvSource results;
  CsvSource limits_csv;  // empty where there is none
};

/// Files of `assay ab`.
struct PairedSource {
  std::string name;  // name of its directory
  std::string host;
  std::string started_at;
  bool ended = false;
  bool interrupted = false;
  int exit_code = 0;
  std::int64_t planned = 0;
  std::string base;  // program and what it was given: "bin/assay OMP_NUM_THREADS=2"
  std::string cand;
  std::string margin_reason;
  std::vector<std::string> notes;
  std::vector<PairedCase> cases;
  CsvSource csv;
};

/// Runs as series, with their changes.
struct HistorySource {
  History history;
  CsvSource points;
  std::vector<std::string> passed_over;  // run directories that could not be read, and why
};

/// Returns whether `assay ab` wrote this directory.
bool is_paired_directory(const std::filesystem::path& directory);

/// Reads a run, up to where it came if it did not end. Throws UsageError that names the file.
RunSource read_run_source(const std::filesystem::path& directory);
PairedSource read_paired_source(const std::filesystem::path& directory);

}  // namespace assay::page
