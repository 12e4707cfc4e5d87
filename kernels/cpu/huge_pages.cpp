#include "kernels/cpu/huge_pages.h"

#include <sys/mman.h>

#include <charconv>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "kernels/core/status.h"
#include "kernels/cpu/vectorize.h"

namespace assay::cpu {
namespace {

constexpr const char* setting = "/sys/kernel/mm/transparent_hugepage/enabled";

std::string setting_text() {
  std::ifstream file(setting);
  std::string line;
  return std::getline(file, line) ? "is '" + line + "'" : "is absent";
}

DeviceError no_huge_pages(std::size_t bytes) {
  return {Failure::not_here, "no huge pages for " + std::to_string(bytes) + " bytes: " + setting +
                                 " " + setting_text()};
}

/// Number in KiB after a field name such as "Size:".
double kib_of(std::string_view line, std::string_view field) {
  std::uint64_t kib = 0;
  const std::size_t digits = line.find_first_not_of(' ', field.size());
  if (digits == std::string_view::npos) return 0;
  std::from_chars(line.data() + digits, line.data() + line.size(), kib);
  return static_cast<double>(kib);
}

/// Returns true if a line "7f5c00000000-7f5c40000000 rw-p ..." covers the address.
bool begins_mapping_of(std::string_view line, std::uintptr_t address) {
  std::uintptr_t first = 0;
  std::uintptr_t last = 0;
  const char* end = line.data() + line.size();
  const auto [dash, error] = std::from_chars(line.data(), end, first, 16);
  if (error != std::errc() || dash == end || *dash != '-') return false;
  return std::from_chars(dash + 1, end, last, 16).ec == std::errc() && first <= address &&
         address < last;
}

}  // namespace

HugePageMapping::HugePageMapping(std::size_t bytes) {
  const std::size_t mapped = (bytes + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
  // Unused space from alignment, at least a page after the end, stays inaccessible. So the kernel
  // does not merge this mapping with another, and smaps reports it separately.
  reserved_bytes_ = mapped + huge_page_bytes;
  reserved_ =
      mmap(nullptr, reserved_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved_ == MAP_FAILED) {
    throw DeviceError(Failure::out_of_memory,
                      "cpu: no memory for " + std::to_string(bytes) + " bytes on huge pages");
  }
  const auto start = reinterpret_cast<std::uintptr_t>(reserved_);
  const std::size_t skipped = (huge_page_bytes - start % huge_page_bytes) % huge_page_bytes;
  auto* data = static_cast<std::byte*>(reserved_) + skipped;
  data_ = data;
  const auto give_up = [&](const DeviceError& why) {
    munmap(reserved_, reserved_bytes_);
    throw why;
  };
  if (mprotect(data, mapped, PROT_READ | PROT_WRITE) != 0) {
    give_up({Failure::out_of_memory,
             "cpu: no memory for " + std::to_string(bytes) + " bytes on huge pages"});
  }
  if (madvise(data, mapped, MADV_HUGEPAGE) != 0) give_up(no_huge_pages(bytes));
  // By the threads that will use them: a page lies on the node of the thread that touches it first.
  const auto pages = static_cast<std::int64_t>(mapped / huge_page_bytes);
  parallel_blocks(pages, huge_page_bytes,
                  [data](std::int64_t, std::int64_t first, std::int64_t count) {
                    for (std::int64_t page = first; page < first + count; ++page) {
                      data[static_cast<std::size_t>(page) * huge_page_bytes] = std::byte{0};
                    }
                  });
  if (!(huge_page_share(data) > 0)) give_up(no_huge_pages(bytes));
}

HugePageMapping::~HugePageMapping() { munmap(reserved_, reserved_bytes_); }

double huge_page_share(const void* address) {
  constexpr std::string_view size = "Size:";
  constexpr std::string_view huge = "AnonHugePages:";
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream file("/proc/self/smaps");
  std::string line;
  bool found = false;
  double mapped_kib = 0;
  while (std::getline(file, line)) {
    if (!found) {
      found = begins_mapping_of(line, wanted);
    } else if (line.starts_with(size)) {
      mapped_kib = kib_of(line, size);
    } else if (line.starts_with(huge)) {
      return mapped_kib > 0 ? kib_of(line, huge) / mapped_kib : 0;
    }
  }
  return 0;
}

}  // namespace assay::cpu
