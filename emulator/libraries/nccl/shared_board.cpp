#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>

#include "emulator/libraries/nccl/board.h"

namespace emulator::nccl {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

/// A file in memory that only grows, and its mapping.
class SharedFile {
 public:
  explicit SharedFile(const std::string& path)
      : path_(path), descriptor_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (descriptor_ < 0) fail(path);
  }
  ~SharedFile() {
    unmap();
    close(descriptor_);
  }
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  /// Makes room. Space is taken at once: a full file system is an error here and not a signal
  /// later.
  std::byte* reserve(std::size_t bytes) {
    if (bytes <= bytes_) return data_;
    if (const int error = posix_fallocate(descriptor_, 0, static_cast<off_t>(bytes)); error != 0) {
      errno = error;
      fail(path_);
    }
    return map(bytes);
  }
  /// Maps what another process has made room for.
  std::byte* map(std::size_t bytes) {
    if (bytes <= bytes_) return data_;
    unmap();
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (at == MAP_FAILED) fail(path_);
    data_ = static_cast<std::byte*>(at);
    bytes_ = bytes;
    return data_;
  }
  void unlink() const { ::unlink(path_.c_str()); }

 private:
  void unmap() {
    if (data_ != nullptr) munmap(data_, bytes_);
    data_ = nullptr;
    bytes_ = 0;
  }

  std::string path_;
  int descriptor_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

class SharedBoard final : public Board {
 public:
  SharedBoard(const std::string& path, std::size_t ranks)
      : path_(path), ranks_(ranks), control_(path) {
    slots_ = reinterpret_cast<Slot*>(control_.reserve(ranks * sizeof(Slot)));  // new files are 0
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      parts_.push_back(std::make_unique<SharedFile>(path + "." + std::to_string(rank)));
    }
  }
  std::size_t ranks() const override { return ranks_; }
  const std::byte* part(std::size_t rank) override {
    const std::lock_guard lock(mutex_);
    return parts_[rank]->map(slots_[rank].bytes);
  }

  /// Every process has its files open by now: the last use of their names, and nothing stays behind
  /// when a process is killed.
  void forget_names() override {
    control_.unlink();
    for (const auto& part : parts_) part->unlink();
  }

 protected:
  std::unique_ptr<Board> new_messages(std::size_t from, std::size_t to) override {
    return std::make_unique<SharedBoard>(
        path_ + "." + std::to_string(from) + "-" + std::to_string(to), 2);
  }
  Slot& slot(std::size_t rank) override { return slots_[rank]; }
  std::byte* room(std::size_t rank, std::size_t bytes) override {
    const std::lock_guard lock(mutex_);
    return parts_[rank]->reserve(bytes);
  }

 private:
  std::string path_;
  std::size_t ranks_;
  SharedFile control_;
  Slot* slots_ = nullptr;
  std::mutex mutex_;  // of the mappings, which the ranks of this process share
  std::vector<std::unique_ptr<SharedFile>> parts_;
};

/// A folder in memory if it has room for the messages of tests.
std::string folder() {
  struct statvfs info {};
  constexpr std::size_t enough = std::size_t{1} << 30;
  const bool has_room = statvfs("/dev/shm", &info) == 0 && info.f_bavail * info.f_frsize >= enough;
  return has_room ? "/dev/shm" : "/tmp";
}

}  // namespace

UniqueId new_unique_id() {
  std::random_device random;
  std::array<char, 64> name;
  std::snprintf(name.data(), name.size(), "/assay-emulated-nccl-%08x%08x", random(), random());
  UniqueId id{};
  const std::string path = folder() + name.data();
  std::memcpy(id.internal, path.data(), path.size());  // shorter than 128; the rest is 0
  return id;
}

std::shared_ptr<Board> shared_board(const UniqueId& id, std::size_t ranks) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<Board>> boards;
  const std::lock_guard lock(mutex);
  const std::string path(id.internal, strnlen(id.internal, sizeof id.internal));
  if (path.find("/assay-emulated-nccl-") == std::string::npos) return nullptr;
  std::weak_ptr<Board>& known = boards[path];
  auto board = known.lock();
  if (board == nullptr) known = board = std::make_shared<SharedBoard>(path, ranks);
  return board->ranks() == ranks ? board : nullptr;
}

}  // namespace emulator::nccl
