#include "harness/execute/reference_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <string_view>
#include <thread>

#include "kernels/core/clock.h"
#include "kernels/core/file_descriptor.h"
#include "kernels/core/fnv1a.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

/// Disk space to leave free: records go before references.
constexpr std::uintmax_t reserve_bytes = std::uintmax_t{256} << 20;
/// Longest wait for another worker that computes the same state; then each computes its own.
constexpr double max_wait_s = 30;

struct Header {
  char magic[8] = {'A', 'S', 'S', 'A', 'Y', 'R', 'E', 'F'};
  std::uint64_t key_bytes = 0;  // padded with zeros to a multiple of 8
  std::uint64_t values = 0;
  std::uint64_t checksum = 0;
};

/// FNV-1a over words of 8 bytes.
std::uint64_t checksum(std::span<const double> values) {
  std::uint64_t hash = fnv1a_begin;
  for (const double value : values) hash = fnv1a_step(hash, std::bit_cast<std::uint64_t>(value));
  return hash;
}

std::string padded(const std::string& key) {
  std::string text = key;
  text.resize((key.size() + 7) / 8 * 8, '\0');
  return text;
}

std::string file_name(const std::string& key) {
  return fmt::format("{:016x}", std::hash<std::string>()(key));
}

/// Null unless the file is complete and has this key.
std::unique_ptr<StoredState> load(const fs::path& path, const std::string& key) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (file.get() < 0 || fstat(file.get(), &status) != 0) return nullptr;
  const auto bytes = static_cast<std::size_t>(status.st_size);
  const std::string text = padded(key);
  if (bytes < sizeof(Header) + text.size()) return nullptr;
  void* mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (mapped == MAP_FAILED) return nullptr;

  Header header;
  std::memcpy(&header, mapped, sizeof(Header));
  const auto* after_header = static_cast<const char*>(mapped) + sizeof(Header);
  const auto* numbers = reinterpret_cast<const double*>(after_header + text.size());
  auto state = std::make_unique<StoredState>(mapped, bytes, std::span(numbers, header.values));
  const bool whole = std::memcmp(header.magic, Header().magic, sizeof(header.magic)) == 0 &&
                     header.key_bytes == text.size() && header.values <= bytes / sizeof(double) &&
                     bytes == sizeof(Header) + text.size() + header.values * sizeof(double) &&
                     std::string_view(after_header, text.size()) == text &&
                     header.checksum == checksum(state->values());
  return whole ? std::move(state) : nullptr;
}

/// Best effort: a state that cannot be stored is computed again.
void save(const fs::path& path, const std::string& key, std::span<const double> values) {
  std::error_code error;
  const fs::space_info space = fs::space(path.parent_path(), error);
  if (error || space.available < reserve_bytes + 4 * values.size_bytes()) return;
  const std::string text = padded(key);
  Header header;
  header.key_bytes = text.size();
  header.values = values.size();
  header.checksum = checksum(values);
  fs::path partial = path;
  partial += "." + std::to_string(getpid());
  {
    std::ofstream file(partial, std::ios::binary);
    file.write(reinterpret_cast<const char*>(&header), sizeof(header));
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size_bytes()));
    file.close();
    if (file.fail()) {
      fs::remove(partial, error);
      return;
    }
  }
  fs::rename(partial, path, error);
}

/// Lock of the worker that computes a state; its death releases it.
FileDescriptor lock(const fs::path& path) {
  FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  const Deadline deadline = after(max_wait_s);
  while (file.get() >= 0 && flock(file.get(), LOCK_EX | LOCK_NB) != 0 &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return file;
}

}  // namespace

StoredState::~StoredState() {
  if (mapped_ != nullptr) munmap(mapped_, mapped_bytes_);
}

std::unique_ptr<StoredState> ReferenceStore::get(const std::string& key,
                                                 const std::function<reference::State()>& compute) {
  const auto computed = [&] {
    ++count_.computed;
    return std::make_unique<StoredState>(compute());
  };
  if (folder_.empty()) return computed();
  const fs::path path = folder_ / file_name(key);
  fs::path lock_path = path;
  lock_path += ".lock";
  const FileDescriptor held = lock(lock_path);
  if (auto stored = load(path, key)) {
    ++count_.shared;
    return stored;
  }
  auto state = computed();
  save(path, key, state->values());
  return state;
}

}  // namespace assay
