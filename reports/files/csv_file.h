#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/files/append_file.h"

namespace assay {

/// Whether a run's files are new, or those of a run that is being resumed.
enum class Start { fresh, resumed };

/// A CSV file with its header, to which whole rows are appended.
class CsvFile {
 public:
  /// Resuming cuts the last row where that was not finished (see resumable_length, whose UsageError
  /// leaves the file as it is).
  CsvFile(const std::filesystem::path& path, std::span<const std::string> header, Start start);

  /// All rows in one write: whole, or not at all where it fails. Only a kill that lands within the
  /// write may leave the last row torn, which resuming cuts.
  void write(std::span<const std::vector<std::string>> rows);

 private:
  AppendFile file_;
};

/// The length of the whole rows of a CSV text that grows by rows: what stands behind them is the
/// part of one row that a kill, a dying machine or a full disk left. `header` is the line, with its
/// end, that such a file begins with where it has no whole row yet. Throws
/// UsageError("NAME:LINE...: why") for rows that are malformed or not as wide as the first one, and
/// where what stands behind them is not the part of one row.
std::size_t whole_rows(std::string_view text, std::string_view header, const std::string& name);

/// Does so for a file that is to go on, which must have exactly these columns.
std::size_t resumable_length(const std::filesystem::path& path,
                             std::span<const std::string> header);

/// The whole file. Throws UsageError that names it where it cannot be read or is larger.
std::string read_text(const std::filesystem::path& path,
                      std::uintmax_t max_bytes = std::numeric_limits<std::uintmax_t>::max());

/// Far more than any JSON that Assay writes.
inline constexpr std::uintmax_t max_json_bytes = std::uintmax_t{16} << 20;

/// Where each whole row of a CSV text ends, line end included.
std::vector<std::size_t> row_ends(std::string_view text);

}  // namespace assay
