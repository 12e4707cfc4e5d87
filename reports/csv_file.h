#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/append_file.h"

namespace assay {

/// Whether a run's files are new, or those of a run that is being resumed.
enum class Start { fresh, resumed };

/// A CSV file with its header, to which whole rows are appended.
class CsvFile {
 public:
  /// Resuming cuts a last row that was not finished, and throws UsageError where the file has
  /// other columns.
  CsvFile(const std::filesystem::path& path, std::span<const std::string> header, Start start);

  /// All rows in one write: whole, or not at all where it fails. Only a kill that lands within the
  /// write may leave the last row torn, which resuming cuts.
  void write(std::span<const std::vector<std::string>> rows);

 private:
  AppendFile file_;
};

/// Cuts what stands behind the last line end outside quotes: the part of a row that a kill, a
/// dying machine or a full disk left. Returns the length that stays.
std::size_t cut_torn_row(const std::filesystem::path& path);

/// The whole file; empty where there is none. Throws UsageError where it cannot be read.
std::string read_text(const std::filesystem::path& path);

/// Where each whole row of a CSV text ends, line end included.
std::vector<std::size_t> row_ends(std::string_view text);

}  // namespace assay
