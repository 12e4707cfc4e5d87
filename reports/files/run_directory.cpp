#include "reports/files/run_directory.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "kernels/core/status.h"
#include "reports/files/run_start.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& directory, std::string_view why) {
  throw UsageError(fmt::format("run directory '{}' {}", directory.string(), why));
}

[[noreturn]] void refuse_making(const fs::path& directory, const std::error_code& error) {
  refuse(directory, fmt::format("cannot be made: {}; choose another with --out", error.message()));
}

void check_writable(const fs::path& directory) {
  if (::faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return;
  const std::error_code error(errno, std::generic_category());
  refuse(directory,
         fmt::format("cannot be written to: {}; choose another with --out", error.message()));
}

}  // namespace

RunDirectoryLock::RunDirectoryLock(const fs::path& directory)
    : directory_(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (directory_.get() >= 0 && flock(directory_.get(), LOCK_EX | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK) refuse(directory, "is being written by another run");
  // Continues without a lock: some network file systems have none, and all else is safe.
}

namespace {

/// Makes the directory, or takes an existing one, whatever it holds.
void ensure_directory(const fs::path& directory) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(directory, error))) {
    fs::create_directories(directory, error);
    if (error) refuse_making(directory, error);
  } else if (!fs::is_directory(directory, error)) {
    refuse(directory, "is not a directory; choose another with --out");
  }
}

void check_empty(const fs::path& directory) {
  std::error_code error;
  const bool empty = fs::is_empty(directory, error);
  if (error) refuse(directory, fmt::format("cannot be read: {}", error.message()));
  if (empty) return;
  const bool is_run = fs::exists(directory / "run.json", error);
  refuse(directory, std::string("is not empty, and a run never overwrites; ") +
                        (is_run ? "complete it with --resume, or " : "") +
                        "choose another with --out");
}

}  // namespace

RunDirectoryLock claim_empty_directory(const fs::path& directory) {
  ensure_directory(directory);
  check_empty(directory);
  check_writable(directory);
  return RunDirectoryLock(directory);
}

RunDirectoryLock claim_run_directory(const fs::path& directory, bool& took_over) {
  ensure_directory(directory);
  check_writable(directory);
  RunDirectoryLock lock(directory);  // first: a run that has just begun has no results either
  took_over = is_run_start(directory);
  if (took_over) remove_run_start(directory);
  check_empty(directory);
  return lock;
}

std::string run_directory_name(std::chrono::system_clock::time_point time, std::string_view host) {
  std::string name;
  for (const char c : host) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.';
    name += plain ? c : '_';
  }
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return fmt::format("{:%Y%m%dT%H%M%SZ}-{}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)),
                     name.empty() ? "unknown" : name);
}

fs::path make_default_run_directory(std::chrono::system_clock::time_point time,
                                    std::string_view host, const fs::path& parent) {
  const fs::path first = parent / run_directory_name(time, host);
  std::error_code error;
  fs::create_directories(parent, error);
  if (error) refuse_making(parent, error);
  fs::path directory = first;
  // Making the directory claims the name: exactly one of two rival processes succeeds.
  for (int n = 2; !fs::create_directory(directory, error); ++n) {
    if (error) refuse_making(directory, error);
    directory = first;
    directory += fmt::format("-{}", n);
  }
  check_writable(directory);
  return directory;
}

}  // namespace assay
