#include "kernels/remote/process_memory.h"

#include <limits.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

namespace assay::remote {
namespace {

using Call = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                         unsigned long);

/// Content of a fill, which one call writes many times.
constexpr std::size_t fill_bytes = std::size_t{256} << 10;

std::string why(int error) {
  switch (error) {
    case EFAULT:
      return "it has protected pages that hold tensors, or unmapped them";
    case EPERM:
    case EACCES:
      return "it hides its memory from its parent";
    case ESRCH:
      return "it has ended";
    default:
      return std::generic_category().message(error);
  }
}

/// Parts of a transfer, alike in both processes, and moved by as few calls as the system allows.
class Transfer {
 public:
  Transfer(pid_t process, Call call, const char* verb)
      : process_(process), call_(call), verb_(verb) {}

  void add(const void* own, const void* other, std::size_t bytes) {
    if (bytes == 0) return;
    // The system's type serves both directions.
    own_.push_back({const_cast<void*>(own), bytes});      // NOLINT(*-const-cast)
    other_.push_back({const_cast<void*>(other), bytes});  // NOLINT(*-const-cast)
    if (own_.size() == IOV_MAX) move();
  }
  void move() {
    for (std::size_t first = 0; first < own_.size();) {
      const auto count = own_.size() - first;
      const ssize_t moved = call_(process_, &own_[first], count, &other_[first], count, 0);
      // One that stops at a bad page tells the bytes before it, and its error at the next call.
      if (moved <= 0) fail(moved < 0 ? errno : EFAULT);
      first = skip(first, static_cast<std::size_t>(moved));
    }
    own_.clear();
    other_.clear();
  }

 private:
  std::size_t skip(std::size_t first, std::size_t bytes) {
    for (; first < own_.size() && bytes >= own_[first].iov_len; ++first) {
      bytes -= own_[first].iov_len;
    }
    if (bytes == 0) return first;
    for (iovec* part : {&own_[first], &other_[first]}) {
      part->iov_base = static_cast<std::byte*>(part->iov_base) + bytes;
      part->iov_len -= bytes;
    }
    return first;
  }
  [[noreturn]] void fail(int error) const {
    throw MemoryWithheld(Failure::internal, std::string("cannot ") + verb_ +
                                                " memory of the kernels' process: " + why(error));
  }

  pid_t process_;
  Call call_;
  const char* verb_;
  std::vector<iovec> own_;
  std::vector<iovec> other_;
};

}  // namespace

std::optional<ProcessMemory> ProcessMemory::open(pid_t process, std::uint64_t address,
                                                 std::span<const std::byte> content) {
  std::vector<std::byte> read(content.size());
  const iovec own{read.data(), read.size()};
  const iovec other{reinterpret_cast<void*>(address),  // NOLINT(performance-no-int-to-ptr)
                    read.size()};
  const ssize_t count = process_vm_readv(process, &own, 1, &other, 1, 0);
  if (count != std::ssize(content) || !std::ranges::equal(read, content)) return std::nullopt;
  return ProcessMemory(process);
}

void ProcessMemory::read(const void* from, std::span<const Piece> pieces) const {
  Transfer transfer(process_, process_vm_readv, "read");
  for (const auto& [offset, bytes] : pieces) {
    transfer.add(bytes.data(), static_cast<const std::byte*>(from) + offset, bytes.size());
  }
  transfer.move();
}

void ProcessMemory::write(void* to, std::span<const SourcePiece> pieces) const {
  Transfer transfer(process_, process_vm_writev, "write");
  for (const auto& [offset, bytes] : pieces) {
    transfer.add(bytes.data(), static_cast<std::byte*>(to) + offset, bytes.size());
  }
  transfer.move();
}

void ProcessMemory::fill(void* to, std::byte value, std::size_t bytes) const {
  const std::vector<std::byte> content(std::min(bytes, fill_bytes), value);
  Transfer transfer(process_, process_vm_writev, "write");
  for (std::size_t done = 0; done < bytes; done += content.size()) {
    transfer.add(content.data(), static_cast<std::byte*>(to) + done,
                 std::min(content.size(), bytes - done));
  }
  transfer.move();
}

}  // namespace assay::remote
