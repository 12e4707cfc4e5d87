#include "harness/supervise/device_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr auto ask_interval = std::chrono::milliseconds(200);

[[noreturn]] void fail(int error, const fs::path& path, std::string_view why = "") {
  throw std::system_error(error, std::generic_category(),
                          fmt::format("cannot lock a device by '{}' (ASSAY_LOCK_DIR){}{}",
                                      path.string(), why.empty() ? "" : ": ", why));
}

/// Throws for a failed open(). Says so if somebody planted a link.
[[noreturn]] void fail_to_open(const fs::path& path) {
  const int error = errno;
  std::error_code ignored;
  fail(error, path, fs::is_symlink(path, ignored) ? "it is a link" : "");
}

/// Sets the sticky bit: without it any writer of the folder may remove the files of others.
void make_sticky(const FileDescriptor& folder, const fs::path& path) {
  struct stat state {};
  if (fstat(folder.get(), &state) != 0) fail(errno, path);
  const bool is_shared = (state.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (!is_shared || (state.st_mode & S_ISVTX) != 0) return;
  if (state.st_uid != geteuid()) {
    fail(EPERM, path,
         fmt::format("others could remove a lock in use: user {}, whose folder it is, has to "
                     "'chmod +t' it",
                     state.st_uid));
  }
  if (fchmod(folder.get(), (state.st_mode & 07777U) | S_ISVTX) != 0) fail(errno, path);
}

/// Opens the folder, writable for all users, since all share the device. No user can remove the
/// files of another.
FileDescriptor open_folder(const fs::path& path) {
  const bool is_new = mkdir(path.c_str(), 0777) == 0;
  if (!is_new && errno != EEXIST) fail(errno, path);
  FileDescriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder.get() < 0) fail_to_open(path);
  if (is_new && fchmod(folder.get(), 01777) != 0) fail(errno, path);  // whatever the umask
  make_sticky(folder, path);
  return folder;
}

FileDescriptor open_file(const fs::path& folder_path, const std::string& name) {
  const FileDescriptor folder = open_folder(folder_path);
  const fs::path path = folder_path / name;
  constexpr int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  FileDescriptor file;
  for (;;) {
    file = FileDescriptor(openat(folder.get(), name.c_str(), flags));
    if (file.get() >= 0 || errno != ENOENT) break;
    // O_EXCL: creates the file here or not at all; the kernel may refuse O_CREAT on another user's
    // file.
    file = FileDescriptor(openat(folder.get(), name.c_str(), flags | O_CREAT | O_EXCL, 0666));
    if (file.get() >= 0 && fchmod(file.get(), 0666) != 0) fail(errno, path);
    if (file.get() >= 0 || errno != EEXIST) break;
  }
  if (file.get() < 0) fail_to_open(path);
  struct stat state {};
  if (fstat(file.get(), &state) != 0) fail(errno, path);
  // Refuses anything but a plain file, since the process id is written to it.
  if (!S_ISREG(state.st_mode)) fail(EINVAL, path, "it is no regular file");
  if (state.st_nlink > 1) fail(EINVAL, path, "it is a file of another name too");
  return file;
}

/// Anybody may have written the file: shows nothing but a number.
std::string holder(int file) {
  std::array<char, 32> text{};
  const ssize_t length = pread(file, text.data(), text.size(), 0);
  pid_t pid = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + std::max<ssize_t>(length, 0), pid);
  const bool is_number = error == std::errc() && end == text.data() + length && pid > 0;
  return is_number ? fmt::format("process {}", pid) : "another process";
}

}  // namespace

fs::path DeviceLock::folder() {
  const char* own = std::getenv("ASSAY_LOCK_DIR");
  return own != nullptr && *own != '\0' ? fs::path(own) : fs::path("/tmp/assay-locks");
}

DeviceLock::DeviceLock(const fs::path& folder, const std::string& uuid, bool wait,
                       const std::function<bool()>& interrupted,
                       const std::function<void(const std::string&)>& say_waiting) {
  file_ = open_file(folder, uuid);
  bool said = false;
  while (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) fail(errno, folder / uuid);
    const std::string busy =
        fmt::format("{} is held by another run ({})", uuid, holder(file_.get()));
    if (!wait) throw DeviceBusy(busy + "; --wait waits for it");
    if (interrupted()) throw DeviceBusy(busy + "; interrupted while waiting");
    if (!std::exchange(said, true)) say_waiting(busy);
    std::this_thread::sleep_for(ask_interval);
  }
  const std::string pid = std::to_string(getpid());
  // The process id serves only the other side's message.
  if (ftruncate(file_.get(), 0) == 0) {
    [[maybe_unused]] const ssize_t ignored = pwrite(file_.get(), pid.data(), pid.size(), 0);
  }
}

}  // namespace assay
