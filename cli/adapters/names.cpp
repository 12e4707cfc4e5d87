#include "cli/adapters/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "harness/records/record.h"
#include "kernels/core/names.h"
#include "kernels/device/device_id.h"

namespace assay::cli {
namespace {

/// Signs that join the devices of a lane, and their words.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> joints{
    {{"<>", "swap"}, {"+", "with"}, {">", "to"}}};  // the longest first

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns whether a character may stand in a name, in every locale.
bool is_plain(char c) {
  return is_lower(c) || is_digit(c) || (c >= 'A' && c <= 'Z') ||
         std::string_view("_/=,").find(c) != std::string_view::npos;
}

std::string encode(std::string_view text) {
  std::string name;
  for (const char c : text) {
    name += is_plain(c) ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return name;
}

std::optional<std::string> decode(std::string_view name) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '%') {
      if (!is_plain(name[i])) return std::nullopt;
      text += name[i];
      continue;
    }
    const std::string_view digits = name.substr(i + 1, 2);
    unsigned char code = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, code, 16);
    if (digits.size() != 2 || error != std::errc() || stop != end) return std::nullopt;
    text += static_cast<char>(code);
    i += 2;
  }
  // Accepts only the output of `encode`: readers would take two names of a trial for two trials.
  return encode(text) == name ? std::optional(text) : std::nullopt;
}

std::optional<std::string> device_text(std::string_view name) {
  const auto letters =
      static_cast<std::size_t>(std::ranges::find_if_not(name, is_lower) - name.begin());
  std::string text(name.substr(0, letters));
  if (letters < name.size()) text += ":" + std::string(name.substr(letters));
  const auto id = parse_device_id(text);
  return id && to_text(*id) == text ? std::optional(text) : std::nullopt;
}

std::optional<std::string> lane_text(std::string_view name) {
  std::string text;
  bool is_device = true;  // devices and words alternate
  for (const std::string& part : split(name, '_')) {
    if (is_device) {
      const auto device = device_text(part);
      if (!device) return std::nullopt;
      text += *device;
    } else {
      const auto joint = std::ranges::find(joints, part, &decltype(joints)::value_type::second);
      if (joint == joints.end()) return std::nullopt;
      text += joint->first;
    }
    is_device = !is_device;
  }
  return is_device ? std::nullopt : std::optional(text);
}

std::optional<TrialName> from_parts(std::string_view lane, std::string_view case_id,
                                    std::string_view timing) {
  const auto lane_of_name = lane_text(lane);
  const auto id_of_name = decode(case_id);
  if (!lane_of_name || !id_of_name || id_of_name->empty()) return std::nullopt;
  return TrialName{*id_of_name, *lane_of_name, std::string(timing)};
}

}  // namespace

std::string lane_name(std::string_view lane) {
  std::string name;
  while (!lane.empty()) {
    const auto joint = std::ranges::find_if(
        joints, [&](const auto& known) { return lane.starts_with(known.first); });
    if (joint != joints.end()) {
      name += fmt::format("_{}_", joint->second);
      lane.remove_prefix(joint->first.size());
    } else {
      if (lane.front() != ':') name += lane.front();
      lane.remove_prefix(1);
    }
  }
  return name;
}

std::string to_gtest_name(const TrialName& trial) {
  return lane_name(trial.lane) + "." + encode(trial.case_id);
}

std::string to_gbench_name(const TrialName& trial) {
  const bool is_cold = trial.timing == cold_timing;
  return lane_name(trial.lane) + (is_cold ? fmt::format("/{}/", cold_timing) : "/") +
         encode(trial.case_id);
}

std::optional<TrialName> from_gtest_name(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  return from_parts(name.substr(0, dot), name.substr(dot + 1), "");
}

std::optional<TrialName> from_gbench_name(std::string_view name) {
  name = name.substr(0, name.find("/iterations:"));  // no case id has a colon in its name
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view lane = name.substr(0, slash);
  std::string_view rest = name.substr(slash + 1);
  const std::string cold = fmt::format("{}/", cold_timing);  // no suite has this name
  if (!rest.starts_with(cold)) return from_parts(lane, rest, batch_timing);
  rest.remove_prefix(cold.size());
  return from_parts(lane, rest, cold_timing);
}

}  // namespace assay::cli
