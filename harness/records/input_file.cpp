#include "harness/records/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "kernels/core/status.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  throw UsageError(path.string() + ": cannot be read: " + why);
}

[[noreturn]] void refuse(const fs::path& path, int error) {
  refuse(path, std::generic_category().message(error));
}

/// Opens without waiting for a pipe's other end. Only the open file's type can be checked safely.
FileDescriptor open_regular(const fs::path& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) refuse(path, errno);
  if (S_ISDIR(status.st_mode)) refuse(path, "it is a directory; give a file");
  if (!S_ISREG(status.st_mode)) {
    refuse(path, std::string("it is a ") + (S_ISFIFO(status.st_mode) ? "pipe" : "device") +
                     "; only regular files are read");
  }
  return file;
}

}  // namespace

InputFile::InputFile(const fs::path& path) : std::istream(nullptr), buffer_(path) {
  rdbuf(&buffer_);
}

InputFile::Buffer::Buffer(const fs::path& path)
    : path_(path), file_(open_regular(path)), block_(std::size_t{1} << 16) {}

InputFile::Buffer::int_type InputFile::Buffer::underflow() {
  ssize_t count = 0;
  do {
    count = ::read(file_.get(), block_.data(), block_.size());
  } while (count < 0 && errno == EINTR);
  if (count < 0) refuse(path_, errno);  // an istream that reads it becomes bad
  if (count == 0) return traits_type::eof();
  setg(block_.data(), block_.data(), block_.data() + count);
  return traits_type::to_int_type(block_.front());
}

}  // namespace assay
