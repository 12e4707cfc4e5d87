#include "kernels/device/device_id.h"

#include <algorithm>
#include <charconv>

#include "kernels/core/names.h"

namespace assay {

std::string to_text(const DeviceId& id) {
  return id.backend == host_kind ? id.backend : id.backend + ":" + std::to_string(id.index);
}

std::string to_text(std::span<const DeviceId> lane, std::string_view joint) {
  std::string text;
  for (const DeviceId& id : lane) {
    if (!text.empty()) text += joint;
    text += to_text(id);
  }
  return text;
}

std::vector<std::string> split_lane(std::string_view text) {
  std::vector<std::string> devices;
  for (;;) {
    const std::size_t joint = text.find_first_of("+<>");
    devices.emplace_back(text.substr(0, joint));
    if (joint == std::string_view::npos) return devices;
    text.remove_prefix(joint + (text.substr(joint).starts_with("<>") ? 2 : 1));
  }
}

std::optional<DeviceId> parse_device_id(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  DeviceId id{std::string(text.substr(0, colon)), 0};
  const auto is_word = [](const std::string& word) {
    return !word.empty() && std::ranges::all_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
  };
  if (!std::ranges::all_of(split(id.backend, ':'), is_word)) return std::nullopt;
  if (colon == std::string_view::npos) {
    return id.backend == host_kind ? std::optional(id) : std::nullopt;
  }
  const std::string_view digits = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id.index);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  if (!whole || id.index < 0 || (id.backend == host_kind && id.index != 0)) return std::nullopt;
  return id;
}

}  // namespace assay
