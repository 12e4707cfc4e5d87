#include "harness/run/device_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <thread>

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr auto ask_interval = std::chrono::milliseconds(200);

[[noreturn]] void fail(const fs::path& path) {
  throw std::system_error(errno, std::generic_category(),
                          "cannot lock a device by '" + path.string() + "' (ASSAY_LOCK_DIR)");
}

/// For all users, as is what they make in it: the device is everybody's.
void make_folder(const fs::path& folder) {
  if (mkdir(folder.c_str(), 0777) == 0) {
    chmod(folder.c_str(), 0777);  // whatever the umask
  } else if (errno != EEXIST) {
    fail(folder);
  }
}

FileDescriptor open_file(const fs::path& path) {
  // A link that somebody planted must not make this run open another file.
  constexpr int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
  FileDescriptor file(open(path.c_str(), flags));
  if (file.get() < 0 && errno == ENOENT) {
    file = FileDescriptor(open(path.c_str(), flags | O_CREAT, 0666));
    if (file.get() >= 0) fchmod(file.get(), 0666);
  }
  if (file.get() < 0) fail(path);
  return file;
}

std::string holder(int file) {
  std::array<char, 32> text{};
  const ssize_t length = pread(file, text.data(), text.size() - 1, 0);
  return length > 0 ? fmt::format("process {}", text.data()) : "another process";
}

}  // namespace

fs::path DeviceLock::folder() {
  const char* own = std::getenv("ASSAY_LOCK_DIR");
  return own != nullptr && *own != '\0' ? fs::path(own) : fs::path("/tmp/assay-locks");
}

DeviceLock::DeviceLock(const fs::path& folder, const std::string& uuid, bool wait,
                       const std::function<bool()>& interrupted,
                       const std::function<void(const std::string&)>& say_waiting) {
  make_folder(folder);
  const fs::path path = folder / uuid;
  file_ = open_file(path);
  bool said = false;
  while (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) fail(path);
    const std::string busy =
        fmt::format("{} is held by another run ({})", uuid, holder(file_.get()));
    if (!wait) throw DeviceBusy(busy + "; --wait waits for it");
    if (interrupted()) throw DeviceBusy(busy + "; interrupted while waiting");
    if (!std::exchange(said, true)) say_waiting(busy);
    std::this_thread::sleep_for(ask_interval);
  }
  const std::string pid = std::to_string(getpid());
  // Only for the other side's message.
  if (ftruncate(file_.get(), 0) == 0) {
    [[maybe_unused]] const ssize_t ignored = pwrite(file_.get(), pid.data(), pid.size(), 0);
  }
}

}  // namespace assay
