#include "reports/files/run_start.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

#include "harness/records/csv_table.h"
#include "harness/records/limit.h"
#include "kernels/core/choice_file.h"
#include "kernels/core/status.h"
#include "reports/files/csv_file.h"
#include "reports/files/plan_csv.h"
#include "reports/files/samples_csv.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view results_name = "results.csv";
constexpr std::string_view references_name = ".references";
constexpr std::string_view part_suffix = ".part";  // suffix of files that are written atomically

/// A file of a run, and the text that it begins with.
struct RunFile {
  std::string name;
  std::string beginning;
};

/// Files in the order in which a run makes them.
const std::vector<RunFile>& run_files() {
  static const std::vector<RunFile> files{
      {"plan.csv", header_line<PlanRow>()},
      {"samples.csv", header_line<SampleRow>()},
      {std::string(results_name), header_line<Record>()},
      {"devices.csv", header_line<DeviceInfo>()},
      {"run.json", "{\n  \"schema\": "},
      {"junit.xml", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"assay\""},
      {"metrics.prom", "# HELP assay_run_info "},
      {"summary.md", "## assay: "},
      {"limits.csv", header_line<Limit>()}};
  return files;
}

/// Exceeds any row of results.
constexpr std::size_t inspected_bytes = std::size_t{1} << 20;

/// Returns nothing if the file cannot be read.
std::optional<std::string> beginning_of(const fs::path& path) {
  std::string text(inspected_bytes, '\0');
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return std::nullopt;
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) return std::nullopt;
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

bool has_no_row(const std::string& results, const RunFile& file) {
  if (results.size() == inspected_bytes) return false;
  try {
    return whole_rows(results, file.beginning, file.name) <= file.beginning.size();
  } catch (const UsageError&) {
    return false;  // damaged, with rows or without
  }
}

/// Returns whether the file begins as one that Assay wrote for a run, and holds no result.
bool is_without_result(const fs::path& path, const RunFile& file) {
  const std::optional<std::string> text = beginning_of(path);
  if (!text) return false;
  if (!text->starts_with(file.beginning) && !file.beginning.starts_with(*text)) return false;
  return file.name != results_name || has_no_row(*text, file);
}

/// Returns whether a run that was killed before its first result may have left this.
bool is_of_start(const fs::path& path) {
  std::error_code error;
  std::string name = path.filename().string();
  const fs::file_type type = fs::symlink_status(path, error).type();
  if (name == references_name) return type == fs::file_type::directory;
  if (type != fs::file_type::regular) return false;
  if (name == choices_name) return fs::exists(path.parent_path() / run_files().front().name, error);
  if (name.ends_with(part_suffix)) name.resize(name.size() - part_suffix.size());
  const auto file = std::ranges::find(run_files(), name, &RunFile::name);
  if (file == run_files().end() || !is_without_result(path, *file)) return false;
  // Reports may be all that somebody kept of a run.
  return std::all_of(run_files().begin(), file, [&](const RunFile& earlier) {
    return fs::exists(path.parent_path() / earlier.name, error);
  });
}

}  // namespace

std::vector<std::string_view> run_file_names() {
  std::vector<std::string_view> names;
  for (const RunFile& file : run_files()) names.emplace_back(file.name);
  return names;
}

bool is_run_start(const fs::path& directory) {
  std::error_code error;
  bool holds_something = false;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (!is_of_start(entry->path())) return false;
    holds_something = true;
  }
  return !error && holds_something;
}

void remove_run_start(const fs::path& directory) {
  fs::remove_all(directory / references_name);
  fs::remove(directory / choices_name);
  // Backwards, so that a kill in between leaves the start of a run as well.
  for (auto file = run_files().rbegin(); file != run_files().rend(); ++file) {
    fs::remove(directory / (file->name + std::string(part_suffix)));
    fs::remove(directory / file->name);
  }
}

}  // namespace assay
