#include "emulator/machine/reservation.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace emulator {
namespace {

constexpr std::size_t page = 4096, huge_page = std::size_t{2} << 20;
/// Below it a memset is cheaper than a system call and new page faults.
constexpr std::size_t worth_giving_back = 64 * page;

}  // namespace

Reservation::Reservation(std::size_t bytes, Use use) : bytes_(bytes) {
  const int protection = use == Use::zeros ? PROT_READ | PROT_WRITE : PROT_NONE;
  void* data = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED)
    throw std::system_error(errno, std::generic_category(), "address space for an emulated GPU");
  data_ = static_cast<std::byte*>(data);
  // Core files would hold every page of it, and huge pages would make each small array cost 2 MiB.
  madvise(data, bytes, MADV_DONTDUMP);
  madvise(data, bytes, MADV_NOHUGEPAGE);
}

Reservation::~Reservation() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

Reservation::Reservation(Reservation&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void Reservation::expect_use(std::size_t offset, std::size_t bytes) {
  const std::uintptr_t first = (address() + offset + huge_page - 1) / huge_page * huge_page,
                       last = (address() + offset + bytes) / huge_page * huge_page;
  if (first < last) madvise(data_ + (first - address()), last - first, MADV_HUGEPAGE);
}

bool Reservation::admit(std::size_t offset, std::size_t bytes) {
  return mprotect(data_ + offset, bytes, PROT_READ | PROT_WRITE) == 0;
}

void Reservation::refuse(std::size_t offset, std::size_t bytes) {
  mprotect(data_ + offset, bytes, PROT_NONE);
}

void Reservation::clear(std::size_t offset, std::size_t bytes) {
  std::size_t begin = offset, end = offset + bytes;
  if (bytes >= worth_giving_back) {
    const std::size_t first = (begin + page - 1) / page * page, last = end / page * page;
    std::memset(data_ + begin, 0, first - begin);
    madvise(data_ + first, last - first, MADV_DONTNEED);
    if (bytes >= huge_page) madvise(data_ + first, last - first, MADV_NOHUGEPAGE);
    begin = last;
  }
  std::memset(data_ + begin, 0, end - begin);
}

}  // namespace emulator
