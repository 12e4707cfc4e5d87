#include "emulator/runtime/fat_binary.h"

#include <fatbinary_section.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace emulator {
namespace {

constexpr std::uint32_t container_magic = 0xBA55ED50;

/// Begins a container of entries.
struct ContainerHeader {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t entries_bytes;
};

/// Begins an entry, as far as it is read here.
struct EntryHeader {
  std::uint16_t kind, version;
  std::uint32_t header_bytes;
  std::uint64_t payload_bytes;
  std::uint32_t unread[3];
  std::uint32_t architecture;
};
constexpr std::uint16_t ptx_kind = 1;

template <class Header>
Header header_at(const std::byte* place) {
  Header header;
  std::memcpy(&header, place, sizeof header);
  return header;
}

}  // namespace

std::vector<EmbeddedPtx> embedded_ptx(const void* wrapper, std::string& problem) {
  std::vector<EmbeddedPtx> found;
  const auto& control = *static_cast<const __fatBinC_Wrapper_t*>(wrapper);
  const auto* place = reinterpret_cast<const std::byte*>(control.data);
  if (control.magic != FATBINC_MAGIC || control.version != FATBINC_VERSION) {
    problem = "it is no fat binary of a whole program (relocatable device code is not emulated)";
    return found;
  }
  const auto container = header_at<ContainerHeader>(place);
  if (container.magic != container_magic) {
    problem = "it is no fat binary";
    return found;
  }
  place += container.header_bytes;
  const std::byte* const end = place + container.entries_bytes;
  while (place < end) {
    const auto entry = header_at<EntryHeader>(place);
    const auto* payload = reinterpret_cast<const char*>(place) + entry.header_bytes;
    // Zeros pad the text.
    const std::string_view text(payload, strnlen(payload, entry.payload_bytes));
    if (entry.kind == ptx_kind) {
      if (text.find(".version") == std::string_view::npos) {
        problem = "its PTX is no plain text: compile it with --no-compress";
      } else {
        found.push_back({text, static_cast<int>(entry.architecture)});
      }
    }
    place += entry.header_bytes + entry.payload_bytes;
  }
  return found;
}

}  // namespace emulator
