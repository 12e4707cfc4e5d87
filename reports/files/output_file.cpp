#include "reports/files/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/records/csv.h"
#include "harness/records/input_file.h"
#include "kernels/core/status.h"
#include "reports/files/run_start.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::array files_of_ab{"ab.json", "ab.csv", "ab.md", "rounds.csv"};

bool is_file_of_a_run(const fs::path& path) {
  const std::vector<std::string_view> names = run_file_names();
  const std::string name = path.filename().string();
  if (std::ranges::count(names, name) == 0 && std::ranges::count(files_of_ab, name) == 0) {
    return false;
  }
  std::error_code none;
  return std::ranges::any_of(std::array{"run.json", "results.csv", "ab.json"}, [&](auto mark) {
    return fs::exists(path.parent_path() / mark, none);
  });
}

/// Folder that /dev/stdout and /dev/fd/3 lead to; its entries only look like links to files.
fs::path own_descriptors() { return fmt::format("/proc/{}/fd", getpid()); }

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// Returns the end of a chain of links, which may not exist yet. Throws fs::filesystem_error for a
/// folder that cannot be reached.
fs::path follow(fs::path path) {
  constexpr int max_links = 40;  // as the kernel has it
  for (int links = 0; links < max_links; ++links) {
    path = fs::canonical(folder_of(path)) / path.filename();
    if (path.parent_path() == own_descriptors() || !fs::is_symlink(path)) return path;
    path = path.parent_path() / fs::read_symlink(path);
  }
  throw fs::filesystem_error("", path,
                             std::make_error_code(std::errc::too_many_symbolic_link_levels));
}

std::string cannot_be_written(int error) {
  return "cannot be written: " + std::generic_category().message(error);
}

bool is_permitted(const fs::path& path, int how) {
  return ::faccessat(AT_FDCWD, path.c_str(), how, AT_EACCESS) == 0;
}

bool begins_with(const fs::path& path, const std::string& begin) {
  InputFile file(path);
  std::string text(begin.size() + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text.empty() || (!begin.empty() && text.starts_with(begin));
}

/// Returns null and sets errno on failure. Closing a copy leaves the descriptor itself open.
std::FILE* open_through(const fs::path& path) {
  if (path.parent_path() != own_descriptors()) return std::fopen(path.c_str(), "we");
  const int copy = ::fcntl(std::atoi(path.filename().c_str()), F_DUPFD_CLOEXEC, 3);
  return copy < 0 ? nullptr : ::fdopen(copy, "w");
}

}  // namespace

OutputFile::OutputFile(std::string_view option, const fs::path& path, std::string begin)
    : option_(option), path_(path), begin_(std::move(begin)) {
  try {
    target_ = path_ == "-" ? standard_output() : follow(path_);
  } catch (const fs::filesystem_error& error) {
    const bool is_missing = error.code() == std::errc::no_such_file_or_directory ||
                            error.code() == std::errc::not_a_directory;
    refuse(is_missing ? fmt::format("cannot be written: there is no folder '{}'",
                                    folder_of(path_).string())
                      : cannot_be_written(error.code().value()));
  }
  if (is_standard_output()) return;
  std::error_code none;
  const fs::file_type type = fs::status(target_, none).type();
  const bool is_open = target_.parent_path() == own_descriptors();
  if (type == fs::file_type::directory) refuse("is a directory; give the name of a file");
  if (is_open || (type != fs::file_type::regular && type != fs::file_type::not_found)) {
    stream_.reset(open_through(target_));
    if (!stream_) refuse(cannot_be_written(errno));
  } else {
    check_regular();
  }
}

/// Checks the target again: files may come and go until the work is done.
void OutputFile::check_regular() const {
  if (is_file_of_a_run(target_)) {
    refuse("belongs to the run in that directory; choose another name");
  }
  std::error_code none;
  const bool is_there = fs::exists(target_, none);
  if (is_there && !begins_with(target_, begin_)) {
    refuse(fmt::format("exists already{}; choose another name, or delete it",
                       begin_.empty() ? "" : ", and is not such a file of assay"));
  }
  if ((is_there && !is_permitted(target_, W_OK)) ||
      !is_permitted(target_.parent_path(), W_OK | X_OK)) {
    refuse(cannot_be_written(errno));
  }
}

void OutputFile::write(std::string_view text) {
  if (!is_standard_output() && !stream_) {
    if (!file_) file_ = std::make_unique<AtomicFile>(target_);
    return file_->write(text);
  }
  std::FILE* const stream = stream_ ? stream_.get() : stdout;
  const bool is_written =
      std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0;
  if (!is_written && stream_) {
    throw std::system_error(errno, std::generic_category(),
                            "cannot write '" + path_.string() + "'");
  }
}

void OutputFile::close() {
  stream_.reset();  // nothing is left in its buffer
  if (!file_) return;
  check_regular();
  file_->commit();
  file_.reset();
}

std::string OutputFile::name() const {
  return is_standard_output() ? "standard output" : path_.string();
}

fs::path OutputFile::standard_output() { return own_descriptors() / "1"; }

void OutputFile::refuse(const std::string& why) const {
  throw UsageError(fmt::format("{}: '{}' {}", option_, path_.string(), why));
}

std::string first_columns(std::span<const std::string> columns) {
  constexpr std::size_t telling = 5;
  return csv_line(columns.first(std::min(columns.size(), telling))) + ",";
}

void check_distinct(std::initializer_list<const std::optional<OutputFile>*> files) {
  std::set<fs::path> targets;
  for (const auto* file : files) {
    if (*file && !targets.insert((*file)->target()).second) {
      throw UsageError(fmt::format("'{}' is given for two files", (*file)->name()));
    }
  }
}

}  // namespace assay
