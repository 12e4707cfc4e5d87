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

/// The sizes at which a backend's devices reach their limits: large enough to be busy for much
/// longer than a launch takes to begin. Without sizes its devices have no limits to measure.
struct LimitSizes {
  std::int64_t array_bytes = 0;
  std::vector<std::int64_t> matrix_extents;  // of square products
  /// Whether arrays are also larger than the device's caches.
  bool exceed_caches = true;

  bool operator==(const LimitSizes&) const = default;
};

/// What differs between backends, as plain data. Each backend tells its own (in `traits.h` of its
/// folder); nothing else may depend on a backend's name.
struct BackendTraits {
  /// The part of a device id before the colon: "cpu", "cuda". Lower-case letters.
  std::string kind;
  MemorySpace memory = MemorySpace::device;
  /// Whether several ranks of a collective may share one device (threads of a CPU), or each needs
  /// a device of its own (GPUs).
  bool ranks_share_device = false;
  /// Whether one process drives all of its devices for a whole run, and cannot be replaced.
  bool single_worker = false;
  /// Whether its devices compute in the formats that only matrix units have
  /// (Op::matrix_unit_dtypes).
  bool has_matrix_unit_dtypes = false;
  /// Whether `--device all` leaves its devices out.
  bool only_on_request = false;
  LimitSizes limits;
  std::vector<std::string> uuid_prefixes;
  /// The environment's variable that injects a fault of `assay selftest`. Empty: takes none.
  std::string fault_variable;
  /// Why an installation shows none of its devices, and the remedy, where that is no defect.
  std::string when_absent;

  bool operator==(const BackendTraits&) const = default;
};

/// Calls `visit(name, field)` for each field, in the worker protocol's words.
template <class Traits, class Visitor>
void visit_fields(Traits& traits, Visitor&& visit) requires
    std::same_as<std::remove_const_t<Traits>, BackendTraits> {
  visit("kind", traits.kind);
  visit("memory", traits.memory);
  visit("ranks_share_device", traits.ranks_share_device);
  visit("single_worker", traits.single_worker);
  visit("has_matrix_unit_dtypes", traits.has_matrix_unit_dtypes);
  visit("only_on_request", traits.only_on_request);
  visit("limit_array_bytes", traits.limits.array_bytes);
  visit("limit_matrix_extents", traits.limits.matrix_extents);
  visit("limits_exceed_caches", traits.limits.exceed_caches);
  visit("uuid_prefixes", traits.uuid_prefixes);
  visit("fault_variable", traits.fault_variable);
  visit("when_absent", traits.when_absent);
}

/// Throws UsageError for a kind that is not among them: a name that nobody knows has no defaults.
const BackendTraits& traits_of(std::span<const BackendTraits> backends, std::string_view kind);

/// Whether the op makes sense on the backend's devices at all: a copy from host to host does on the
/// CPU only, and some dtypes are formats of matrix units.
bool applies_to(const OpInstance& op, const BackendTraits& backend);

}  // namespace assay
