#include "reports/csv_file.h"

#include <iterator>

#include "harness/csv.h"
#include "harness/input_file.h"
#include "kernels/base/status.h"

namespace assay {
namespace fs = std::filesystem;

CsvFile::CsvFile(const fs::path& path, std::span<const std::string> header, Start start)
    : file_(path, start == Start::fresh ? AppendFile::Mode::create : AppendFile::Mode::append) {
  const std::string line = csv_line(header) + "\n";
  const std::string text = read_text(path);
  if (!text.starts_with(line) && !line.starts_with(text)) {
    throw UsageError("'" + path.string() +
                     "' has other columns than this version of assay writes; resume it with the "
                     "version that began it, or start a new run");
  }
  if (cut_torn_row(path) == 0) file_.write(line);
}

void CsvFile::write(std::span<const std::vector<std::string>> rows) {
  std::string text;
  for (const auto& row : rows) text += csv_line(row) + "\n";
  file_.write(text);
}

std::size_t cut_torn_row(const fs::path& path) {
  const std::string text = read_text(path);
  const std::vector<std::size_t> ends = row_ends(text);
  const std::size_t whole = ends.empty() ? 0 : ends.back();
  if (whole < text.size()) fs::resize_file(path, whole);
  return whole;
}

std::string read_text(const fs::path& path) {
  std::error_code unknown;
  if (fs::status(path, unknown).type() == fs::file_type::not_found) return {};
  InputFile stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
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
