#include "reports/files/csv_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <sstream>

#include "harness/records/csv.h"
#include "harness/records/input_file.h"
#include "kernels/core/status.h"

namespace assay {
namespace fs = std::filesystem;

namespace {

using Visit = std::function<void(const CsvRow&)>;

void each_row(std::string_view text, const std::string& name, const Visit& visit) {
  std::istringstream stream{std::string(text)};
  each_csv_row(stream, name, visit);
}

/// Returns whether a line is, by itself, a whole row of so many fields.
bool is_whole_row(std::string_view line, std::size_t width) {
  std::size_t fields = 0;
  try {
    each_row(line, "", [&](const CsvRow& row) { fields = row.fields.size(); });
  } catch (const UsageError&) {
    return false;
  }
  return fields == width;
}

/// Throws if `torn` is not the beginning of one row. An extra quote in an earlier row turns the
/// rest into one field, which then contains whole rows.
void check_torn(std::string_view torn, std::size_t line, std::size_t width,
                const std::string& name) {
  const bool open = std::ranges::count(torn, '"') % 2 == 1;
  // Skips empty lines, and counts them.
  const std::string text = std::string(line - 1, '\n') + std::string(torn) + (open ? "\"" : "");
  each_row(text, name, [&](const CsvRow& row) {
    if (row.fields.size() > width) throw wrong_width(name, row, width);
  });
  for (std::size_t at = torn.find('\n'); at != std::string_view::npos;) {
    const std::size_t end = torn.find('\n', at + 1);
    if (end == std::string_view::npos) break;
    if (is_whole_row(torn.substr(at + 1, end - at - 1), width)) {
      throw csv_error(name, line, 1,
                      "a quote in this row is never closed, and whole rows follow it; mend the "
                      "file by hand, or start a new run");
    }
    at = end;
  }
}

}  // namespace

std::size_t whole_rows(std::string_view text, std::string_view header, const std::string& name) {
  const std::vector<std::size_t> ends = row_ends(text);
  const std::size_t whole = ends.empty() ? 0 : ends.back();
  if (whole == 0) {
    if (header.starts_with(text)) return 0;
    throw csv_error(name, 1, 1, "not the columns that assay writes there");
  }
  std::size_t width = 0;
  each_row(text.substr(0, whole), name, [&](const CsvRow& row) {
    if (width == 0) width = row.fields.size();
    if (row.fields.size() != width) throw wrong_width(name, row, width);
  });
  const auto lines = std::ranges::count(text.substr(0, whole), '\n');
  check_torn(text.substr(whole), static_cast<std::size_t>(lines) + 1, width, name);
  return whole;
}

std::string read_whole_rows(const fs::path& path, std::string_view header) {
  std::string text = read_text(path);
  text.resize(whole_rows(text, header, path.string()));
  return text;
}

std::size_t resumable_length(const fs::path& path, std::span<const std::string> header) {
  const std::string line = csv_line(header) + "\n";
  const std::string text = read_text(path);
  if (!text.starts_with(line) && !line.starts_with(text)) {
    throw UsageError("'" + path.string() +
                     "' has other columns than this version of assay writes; resume it with the "
                     "version that began it, or start a new run");
  }
  return whole_rows(text, line, path.string());
}

CsvFile::CsvFile(const fs::path& path, std::span<const std::string> header, Start start)
    : file_(path, start == Start::fresh ? AppendFile::Mode::create : AppendFile::Mode::append) {
  const std::size_t whole = resumable_length(path, header);
  fs::resize_file(path, whole);
  if (whole == 0) file_.write(csv_line(header) + "\n");
}

void CsvFile::write(std::span<const std::vector<std::string>> rows) {
  std::string text;
  for (const auto& row : rows) text += csv_line(row) + "\n";
  file_.write(text);
}

std::string read_text(const fs::path& path, std::uintmax_t max_bytes) {
  InputFile stream(path);
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) throw UsageError(path.string() + ": cannot be read: " + error.message());
  if (size > max_bytes) {
    throw UsageError(fmt::format("{}: {} bytes, and no such file of assay has more than {}",
                                 path.string(), size, max_bytes));
  }
  std::string text(size, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(size));
  if (stream.bad()) throw UsageError(path.string() + ": cannot be read");
  text.resize(static_cast<std::size_t>(stream.gcount()));  // it may have been cut meanwhile
  return text;
}

std::vector<std::size_t> row_ends(std::string_view text) {
  std::vector<std::size_t> ends;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (text[i] == '\n' && !quoted) ends.push_back(i + 1);
  }
  return ends;
}

}  // namespace assay
