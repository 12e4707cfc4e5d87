#pragma once

#include <memory>
#include <string_view>
#include <type_traits>

#include "kernels/device/device.h"
#include "kernels/ops/op.h"

// Tables in which a backend lists its kernels: one for each family, by op name, and the types of
// each op.
namespace assay {

/// Binds an op to its tensors. Throws DeviceError(not_here) for a dtype that the op lacks.
using Factory = std::unique_ptr<Kernel> (*)(const OpInstance&, const Binding&);

struct KernelRow {
  std::string_view op;
  Factory make;
  bool takes_views = false;  // else they are copied to dense tensors first
};

/// Throws DeviceError(not_here).
[[noreturn]] void refuse_dtype(const OpInstance& op);

/// List of the C++ types that ops of a family support, for for_dtypes.
template <class... Ts>
struct TypeList {};
using Floats = TypeList<double, float, BFloat16, Float16>;
using Integers = TypeList<std::int64_t, std::int32_t, std::uint8_t>;
using SignedNumbers = TypeList<double, float, BFloat16, Float16, std::int64_t, std::int32_t>;
using Numbers =
    TypeList<double, float, BFloat16, Float16, std::int64_t, std::int32_t, std::uint8_t>;

/// Calls `make(std::type_identity<T>{})` for the first T of `Ts` that stores the op's dtype.
template <class... Ts, class Make>
std::unique_ptr<Kernel> for_dtype(const OpInstance& op, const Make& make) {
  std::unique_ptr<Kernel> kernel;
  visit_dtype(op.dtype(), [&]<class T>(std::type_identity<T> type) {
    if constexpr ((std::is_same_v<T, Ts> || ...)) kernel = make(type);
  });
  if (!kernel) refuse_dtype(op);
  return kernel;
}

template <class... Ts, class Make>
std::unique_ptr<Kernel> for_dtypes(TypeList<Ts...> /*types*/, const OpInstance& op,
                                   const Make& make) {
  return for_dtype<Ts...>(op, make);
}

/// Selects the unsigned integer of the element's size, for ops that move elements unchanged.
template <class Make>
std::unique_ptr<Kernel> for_size(const OpInstance& op, const Make& make) {
  switch (size_bytes(op.dtype())) {
    case 8:
      return make(std::type_identity<std::uint64_t>{});
    case 4:
      return make(std::type_identity<std::uint32_t>{});
    case 2:
      return make(std::type_identity<std::uint16_t>{});
    default:
      return make(std::type_identity<std::uint8_t>{});
  }
}

}  // namespace assay
