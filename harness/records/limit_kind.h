#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/records/rate_kind.h"
#include "kernels/core/format.h"

namespace assay {

/// Part of a device that limits a launch: its memory by the mix of reads and writes, its matrix
/// units, its link to the host by direction, the evaluation of a function, or the launch itself.
enum class Resource {
  memory_read,
  memory_write,
  memory_copy,
  memory_triad,
  matrix,
  link_to_device,
  link_from_device,
  function,
  launch,
};

/// Kind of a limit.
struct LimitKind {
  Resource resource = Resource::launch;
  std::optional<Format> format = {};  // of products and functions alone
  std::string function = {};          // the op that evaluates it

  auto operator<=>(const LimitKind&) const = default;
};

/// Lists all but functions, which are as many as ops evaluate.
std::vector<LimitKind> all_limit_kinds();
/// "memory_copy", "matrix_f32", "function_exp_f32".
std::string name(const LimitKind& kind);
/// Inverse of `name`.
std::optional<LimitKind> parse_limit_kind(std::string_view text);
/// Rate that the limit bounds; empty for a launch, whose limit is a time.
std::optional<RateKind> rate_kind(const LimitKind& kind);
/// "B/s", "FLOP/s", or "s" of one launch.
std::string_view unit_of(const LimitKind& kind);

/// Limit that a row names: of a kind, or under the name that another version gave it.
class NamedLimit {
 public:
  NamedLimit() = default;
  NamedLimit(LimitKind kind) : limit_(kind) {}
  explicit NamedLimit(std::string_view name);

  /// Null for a limit of another version.
  const LimitKind* kind() const { return std::get_if<LimitKind>(&limit_); }
  friend std::string name(const NamedLimit& limit);
  bool operator==(const NamedLimit&) const = default;

 private:
  std::variant<std::string, LimitKind> limit_;
};

}  // namespace assay
