#pragma once

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// The whole host: "cpu".
inline constexpr std::string_view host_kind = "cpu";

/// Names one device: `cpu`, `cuda:0`, `sim:3`, `torch:xpu:0`. `index` is logical: it counts visible
/// devices only.
struct DeviceId {
  std::string backend;
  int index = 0;

  auto operator<=>(const DeviceId&) const =
      default;  // NOLINT(modernize-use-nullptr): misread by 14
};

/// Returns "cpu", else "backend:index".
std::string to_text(const DeviceId& id);

/// Joins the devices of a lane: "cuda:0+cuda:1".
std::string to_text(std::span<const DeviceId> lane, std::string_view joint = "+");

/// Splits a lane into its devices, with any joint.
std::vector<std::string> split_lane(std::string_view text);

/// Parses one device, the inverse of to_text. Returns nothing for any other text.
std::optional<DeviceId> parse_device_id(std::string_view text);

}  // namespace assay
