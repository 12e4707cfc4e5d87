#pragma once

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// The host's own device, of which there is but one: "cpu".
inline constexpr std::string_view host_kind = "cpu";

/// Names one device: `cpu`, `cuda:0`, `sim:3`. `index` is the logical one, after visibility masks.
struct DeviceId {
  std::string backend;
  int index = 0;

  auto operator<=>(const DeviceId&) const =
      default;  // NOLINT(modernize-use-nullptr): misread by 14
};

/// "cpu", else "backend:index".
std::string to_text(const DeviceId& id);

/// "cuda:0+cuda:1": the devices of a lane, joined.
std::string to_text(std::span<const DeviceId> lane, std::string_view joint = "+");

/// The devices of a lane, whatever joins them.
std::vector<std::string> split_lane(std::string_view text);

/// The inverse of to_text for one device. Nothing when the text is not of that form.
std::optional<DeviceId> parse_device_id(std::string_view text);

}  // namespace assay
