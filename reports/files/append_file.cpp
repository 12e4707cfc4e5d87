#include "reports/files/append_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace assay {
namespace {

[[noreturn]] void fail(int error, std::string_view action, const std::filesystem::path& path) {
  throw std::system_error(error, std::generic_category(),
                          "cannot " + std::string(action) + " '" + path.string() + "'");
}

/// Returns whether the file has lost its name, so that nobody would find the text.
bool is_removed(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 0;
}

/// Takes the last `count` bytes off. Best effort: the error that led here is the one to report.
void take_back(int descriptor, std::size_t count) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return;
  [[maybe_unused]] const int ignored =
      ::ftruncate(descriptor, status.st_size - static_cast<off_t>(count));
}

}  // namespace

AppendFile::AppendFile(std::filesystem::path path, Mode mode)
    : path_(std::move(path)),
      descriptor_(::open(
          path_.c_str(),
          O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (mode == Mode::create ? O_EXCL : 0), 0666)) {
  if (descriptor_ < 0) fail(errno, "open", path_);
}

AppendFile::~AppendFile() { ::close(descriptor_); }

void AppendFile::write(std::string_view text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::write(descriptor_, text.data() + done, text.size() - done);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count == 0 || errno != EINTR) {
      const int error = count == 0 ? ENOSPC : errno;  // a file that takes nothing is full
      if (done > 0) take_back(descriptor_, done);
      fail(error, "write to", path_);
    }
  }
  if (is_removed(descriptor_)) {
    throw std::runtime_error("'" + path_.string() + "' was removed while it was being written");
  }
}

void AppendFile::sync() {
  // EINVAL: a pipe or a device has no disk to wait for.
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail(errno, "write to", path_);
}

}  // namespace assay
