#include "harness/records/limit_kind.h"

#include <array>
#include <cstddef>

namespace assay {
namespace {

struct ResourceRow {
  Resource resource;
  std::string_view name;  // of a limit; what follows the last _ is told by its other fields
  std::optional<RateKind> rate;
};

constexpr std::array resources{
    ResourceRow{Resource::memory_read, "memory_read", RateKind::data},
    ResourceRow{Resource::memory_write, "memory_write", RateKind::data},
    ResourceRow{Resource::memory_copy, "memory_copy", RateKind::data},
    ResourceRow{Resource::memory_triad, "memory_triad", RateKind::data},
    ResourceRow{Resource::matrix, "matrix_", RateKind::arithmetic},
    ResourceRow{Resource::link_to_device, "link_to_device", RateKind::data},
    ResourceRow{Resource::link_from_device, "link_from_device", RateKind::data},
    ResourceRow{Resource::function, "function_", RateKind::arithmetic},
    ResourceRow{Resource::launch, "launch", std::nullopt},
};

const ResourceRow& row_of(const LimitKind& kind) {
  return resources.at(static_cast<std::size_t>(kind.resource));
}

/// Parses "function_gelu_tanh_f32".
std::optional<LimitKind> parse_function(std::string_view text) {
  const std::string_view prefix = row_of({Resource::function}).name;
  const std::size_t end = text.rfind('_');
  if (!text.starts_with(prefix) || end < prefix.size()) return std::nullopt;
  const auto format = parse_format(text.substr(end + 1));
  if (!format) return std::nullopt;
  const std::string_view function = text.substr(prefix.size(), end - prefix.size());
  return LimitKind{Resource::function, format, std::string(function)};
}

}  // namespace

std::vector<LimitKind> all_limit_kinds() {
  std::vector<LimitKind> kinds;
  for (const ResourceRow& row : resources) {
    if (row.resource == Resource::function) continue;
    if (row.resource != Resource::matrix) {
      kinds.push_back({row.resource});
      continue;
    }
    for (const Format format : all_formats()) kinds.push_back({row.resource, format});
  }
  return kinds;
}

std::string name(const LimitKind& kind) {
  std::string text(row_of(kind).name);
  if (!kind.function.empty()) text += kind.function + '_';
  if (kind.format) text += name(*kind.format);
  return text;
}

std::optional<LimitKind> parse_limit_kind(std::string_view text) {
  for (const LimitKind& kind : all_limit_kinds()) {
    if (name(kind) == text) return kind;
  }
  return parse_function(text);
}

std::optional<RateKind> rate_kind(const LimitKind& kind) { return row_of(kind).rate; }

std::string_view unit_of(const LimitKind& kind) {
  const auto rate = rate_kind(kind);
  return rate ? unit_of(*rate) : "s";
}

NamedLimit::NamedLimit(std::string_view name) : limit_(std::string(name)) {
  if (const auto kind = parse_limit_kind(name)) limit_ = *kind;
}

std::string name(const NamedLimit& limit) {
  const LimitKind* const kind = limit.kind();
  return kind != nullptr ? name(*kind) : std::get<std::string>(limit.limit_);
}

}  // namespace assay
