#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kernels/core/memory_space.h"
#include "kernels/ops/op.h"

namespace assay {

/// Sizes at which a backend's devices reach their limits. They keep a device busy for much longer
/// than a launch needs to start. Without sizes, limits are not measured.
struct LimitSizes {
  std::int64_t array_bytes = 0;
  std::vector<std::int64_t> matrix_extents;  // extents of square products
  /// True if the arrays also exceed the device's caches.
  bool exceed_caches = true;
  /// True if a launch on data in the caches shows how fast the device evaluates a function: it
  /// takes far longer than it needs to start.
  bool functions_in_caches = false;

  bool operator==(const LimitSizes&) const = default;
};

/// Data that differs between backends. Each backend fills its own in `traits.h` of its folder. No
/// other code may depend on a backend's name.
struct BackendTraits {
  /// Part of a device id before its index: "cpu", "cuda", "torch:xpu". Lower-case words.
  std::string kind;
  MemorySpace memory = MemorySpace::device;
  /// True if several ranks of a collective may share one device (threads of a CPU). False if each
  /// rank needs its own device (GPUs).
  bool ranks_share_device = false;
  /// True if one process drives all devices for a whole run and cannot be replaced.
  bool single_worker = false;
  /// True if the devices compute in the formats that only matrix units have
  /// (Op::matrix_unit_formats).
  bool has_matrix_units = false;
  /// True if `--device all` leaves these devices out.
  bool only_on_request = false;
  LimitSizes limits;
  std::vector<std::string> uuid_prefixes;
  /// Other words for such devices, for which an error names the kind.
  std::vector<std::string> other_names;
  /// Environment variable that injects a fault of `assay selftest`. Empty: takes no faults.
  std::string fault_variable;
  /// Reason and remedy when an installation without such devices is no defect.
  std::string when_absent;

  bool operator==(const BackendTraits&) const = default;
};

/// Calls `visit(name, field)` for each field. The names are those of the worker protocol.
template <class Traits, class Visitor>
void visit_fields(Traits& traits, Visitor&& visit) requires
    std::same_as<std::remove_const_t<Traits>, BackendTraits> {
  visit("kind", traits.kind);
  visit("memory", traits.memory);
  visit("ranks_share_device", traits.ranks_share_device);
  visit("single_worker", traits.single_worker);
  visit("has_matrix_unit_dtypes", traits.has_matrix_units);
  visit("only_on_request", traits.only_on_request);
  visit("limit_array_bytes", traits.limits.array_bytes);
  visit("limit_matrix_extents", traits.limits.matrix_extents);
  visit("limits_exceed_caches", traits.limits.exceed_caches);
  visit("limit_functions_in_caches", traits.limits.functions_in_caches);
  visit("uuid_prefixes", traits.uuid_prefixes);
  visit("other_names", traits.other_names);
  visit("fault_variable", traits.fault_variable);
  visit("when_absent", traits.when_absent);
}

/// Throws UsageError for an unknown kind: it has no defaults.
const BackendTraits& traits_of(std::span<const BackendTraits> backends, std::string_view kind);

/// Returns true if the op makes sense on the backend's devices. A copy from host to host does on
/// the CPU only, and some dtypes are formats of matrix units.
bool applies_to(const OpInstance& op, const BackendTraits& backend);

}  // namespace assay
