#pragma once

#include <cstddef>
#include <cstdint>

namespace emulator {

/// Address space from mmap, without memory until it is touched. Throws std::system_error when there
/// is none left.
class Reservation {
 public:
  enum class Use { addresses_only, zeros };  // zeros: readable and writable
  Reservation() = default;
  Reservation(std::size_t bytes, Use use);
  ~Reservation();
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;

  std::byte* data() const { return data_; }
  std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(data_); }
  std::size_t size() const { return bytes_; }
  /// [offset, offset + bytes) is about to be used: large parts of it take huge pages, which cost
  /// one page fault in place of 512.
  void expect_use(std::size_t offset, std::size_t bytes);
  /// Gives the host access to whole pages of mere addresses; false: the system has no more
  /// mappings. `refuse` takes it back.
  bool admit(std::size_t offset, std::size_t bytes);
  void refuse(std::size_t offset, std::size_t bytes);
  /// Makes [offset, offset + bytes) zero, and gives whole pages back.
  void clear(std::size_t offset, std::size_t bytes);

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace emulator
