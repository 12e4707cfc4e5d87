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

/// Start of a run's files: new, or resumed.
enum class Start { fresh, resumed };

/// A CSV file with its header, to which whole rows are appended.
class CsvFile {
 public:
  /// Resuming cuts an unfinished last row (see resumable_length, whose UsageError leaves the file
  /// as it is).
  CsvFile(const std::filesystem::path& path, std::span<const std::string> header, Start start);

  /// Appends all rows in one write: whole, or not at all if it fails. Only a kill within the write
  /// may leave the last row torn, which resuming cuts.
  void write(std::span<const std::vector<std::string>> rows);

 private:
  AppendFile file_;
};

/// Returns the length of the whole rows of a CSV text that grows by rows. A part of one row may
/// follow them, left by a kill, a dying machine or a full disk. `header` is the line, with its end,
/// that such a file begins with. Throws csv_error() for rows that are malformed or not as wide as
/// the first one, and if anything but a part of one row follows them.
std::size_t whole_rows(std::string_view text, std::string_view header, const std::string& name);

/// Reads the whole rows of such a file; no text if it ended within its header.
std::string read_whole_rows(const std::filesystem::path& path, std::string_view header);

/// Overload for a file that is resumed, which must have exactly these columns.
std::size_t resumable_length(const std::filesystem::path& path,
                             std::span<const std::string> header);

/// Reads the whole file. Throws UsageError that names it if it cannot be read or is larger.
std::string read_text(const std::filesystem::path& path,
                      std::uintmax_t max_bytes = std::numeric_limits<std::uintmax_t>::max());

/// Exceeds any JSON that Assay writes.
inline constexpr std::uintmax_t max_json_bytes = std::uintmax_t{16} << 20;

/// Returns the end of each whole row of a CSV text, line end included.
std::vector<std::size_t> row_ends(std::string_view text);

}  // namespace assay
