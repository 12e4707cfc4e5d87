#include "emulator/runtime/fat_binary.h"

#include <fatbinary_section.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "emulator/machine/machine.h"

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

/// Whether the text's target is like sm_90a.
bool is_for_one_architecture(std::string_view text) {
  constexpr std::string_view before = "sm_";
  text.remove_prefix(std::min(text.size(), text.find(".target")));
  text.remove_prefix(std::min(text.size(), text.find(before)));
  const std::size_t end = text.find_first_not_of("0123456789", before.size());
  return end < text.size() && text[end] == 'a';
}

struct Candidate {
  std::string_view text;
  int architecture;
};

/// All PTX of a container.
std::vector<Candidate> candidates(const void* container, std::string& problem) {
  std::vector<Candidate> found;
  const auto* place = static_cast<const std::byte*>(container);
  const auto header = header_at<ContainerHeader>(place);
  if (header.magic != container_magic) {
    problem = "it is no fat binary";
    return found;
  }
  place += header.header_bytes;
  const std::byte* const end = place + header.entries_bytes;
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

/// The container of a program, or those of its modules.
std::vector<const void*> containers_of(const void* image) {
  const auto& wrapper = *static_cast<const __fatBinC_Wrapper_t*>(image);
  if (wrapper.magic != FATBINC_MAGIC) return {image};
  if (wrapper.version != FATBINC_LINK_VERSION) return {wrapper.data};
  std::vector<const void*> containers;
  for (void* const* each = static_cast<void**>(wrapper.filename_or_fatbins); *each != nullptr;
       ++each)
    containers.push_back(*each);
  return containers;
}

}  // namespace

EmbeddedPtx embedded_ptx(const void* image, int capability, std::string& problem) {
  std::vector<std::string_view> modules;
  EmbeddedPtx result;
  for (const void* container : containers_of(image)) {
    const std::vector<Candidate> all = candidates(container, problem);
    // As that of the device runtime, which every relocatable program is linked with.
    if (all.empty()) continue;
    const Candidate* best = nullptr;
    for (const Candidate& each : all) {
      if (can_run(each.text, each.architecture, capability) &&
          (best == nullptr || best->architecture < each.architecture))
        best = &each;
    }
    if (best == nullptr) return {};
    modules.push_back(best->text);
    result.architecture = std::max(result.architecture, best->architecture);
  }
  if (modules.empty()) {
    if (problem.empty())
      problem =
          "it has no PTX: compile it with --no-compress -gencode arch=compute_75,code=compute_75";
    return {};
  }
  problem.clear();
  try {
    result.text = link_ptx(modules);
  } catch (const Fault& error) {
    problem = error.what();
    return {};
  }
  return result;
}

bool can_run(std::string_view ptx, int architecture, int capability) {
  return is_for_one_architecture(ptx) ? architecture == capability : architecture <= capability;
}

bool is_fat_binary(const void* image) {
  std::uint32_t magic = 0;
  std::memcpy(&magic, image, sizeof magic);
  return magic == container_magic || magic == FATBINC_MAGIC;
}

}  // namespace emulator
