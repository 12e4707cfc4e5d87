#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "kernels/core/element_functions.h"
#include "kernels/device/kernels.h"

// Elementwise kernels and functions that all backends share.
namespace assay {

/// Makes the kernels that differ between backends only by their `Mapper`:
///   Stored<T>                            the backend's type of an element
///   input<T>(binding, i)                 address of an input
///   kernel_of<Y>(f, op, binding, x...)   kernel of y[i] = f(x[i], ...) over the Ys of the output
///   strided_copy(op, binding)            copy between tensors of different strides
template <class Mapper>
struct Mapped {
  /// y[i] = F(x[i], ...), all in the op's dtype, which is one of Types.
  template <class F, class Types, int Inputs>
  static std::unique_ptr<Kernel> map(const OpInstance& op, const Binding& binding) {
    return for_dtypes(Types{}, op, [&]<class T>(std::type_identity<T>) {
      return map_inputs<F, T>(op, binding, std::make_index_sequence<Inputs>{});
    });
  }

  /// y[i] = F(a[i], b[i]), numbers of any dtype to a byte.
  template <class F>
  static std::unique_ptr<Kernel> compare(const OpInstance& op, const Binding& binding) {
    return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
      return Mapper::template kernel_of<std::uint8_t>(F{}, op, binding,
                                                      Mapper::template input<T>(binding, 0),
                                                      Mapper::template input<T>(binding, 1));
    });
  }

  /// y[i] = F(x[i]), a float of any dtype to a byte.
  template <class F>
  static std::unique_ptr<Kernel> test(const OpInstance& op, const Binding& binding) {
    return for_dtypes(Floats{}, op, [&]<class T>(std::type_identity<T>) {
      return Mapper::template kernel_of<std::uint8_t>(F{}, op, binding,
                                                      Mapper::template input<T>(binding, 0));
    });
  }

  static std::unique_ptr<Kernel> where(const OpInstance& op, const Binding& binding) {
    return for_size(op, [&]<class T>(std::type_identity<T>) {
      return Mapper::template kernel_of<T>(
          Choose{}, op, binding, Mapper::template input<std::uint8_t>(binding, 0),
          Mapper::template input<T>(binding, 1), Mapper::template input<T>(binding, 2));
    });
  }

  static std::unique_ptr<Kernel> copy(const OpInstance& op, const Binding& binding) {
    if (op.signature.inputs[0].strides != op.signature.outputs[0].strides)
      return Mapper::strided_copy(op, binding);
    return for_size(op, [&]<class T>(std::type_identity<T>) {
      return Mapper::template kernel_of<T>(Identity{}, op, binding,
                                           Mapper::template input<T>(binding, 0));
    });
  }

 private:
  template <class F, class T, std::size_t... i>
  static std::unique_ptr<Kernel> map_inputs(const OpInstance& op, const Binding& binding,
                                            std::index_sequence<i...> /*inputs*/) {
    return Mapper::template kernel_of<typename Mapper::template Stored<T>>(
        F{}, op, binding, Mapper::template input<T>(binding, i)...);
  }
};

/// `Backend` is its Mapped with the remaining ops by name.
template <class Backend>
inline constexpr KernelRow elementwise_rows[] = {
    {"add", Backend::template map<Add, Numbers, 2>},
    {"sub", Backend::template map<Subtract, Numbers, 2>},
    {"mul", Backend::template map<Multiply, Numbers, 2>},
    {"div", Backend::template map<Divide, Floats, 2>},
    {"square", Backend::template map<Square, Numbers, 1>},
    {"neg", Backend::template map<Negate, SignedNumbers, 1>},
    {"abs", Backend::template map<Absolute, SignedNumbers, 1>},
    {"sqrt", Backend::template map<SquareRoot, Floats, 1>},
    {"floor", Backend::template map<Floor, Floats, 1>},
    {"ceil", Backend::template map<Ceiling, Floats, 1>},
    {"round", Backend::template map<RoundToWhole, Floats, 1>},
    {"min", Backend::template map<Minimum, Numbers, 2>},
    {"max", Backend::template map<Maximum, Numbers, 2>},
    {"relu", Backend::template map<Relu, Floats, 1>},
    {"less", Backend::template compare<Less>},
    {"equal", Backend::template compare<Equal>},
    {"isnan", Backend::template test<IsNan>},
    {"clamp", Backend::clamp},
    {"fma", Backend::fma},
    {"scale", Backend::scale},
    {"where", Backend::where},
    {"copy", Backend::copy, true},
    {"fill", Backend::fill},
};

/// Elementwise kernels of operands that the Mapper repeats where they lack an extent.
template <class Mapper>
inline constexpr KernelRow broadcast_rows[] = {
    {"add_broadcast", Mapped<Mapper>::template map<Add, Numbers, 2>},
    {"sub_broadcast", Mapped<Mapper>::template map<Subtract, Numbers, 2>},
    {"mul_broadcast", Mapped<Mapper>::template map<Multiply, Numbers, 2>},
    {"div_broadcast", Mapped<Mapper>::template map<Divide, Floats, 2>},
    {"min_broadcast", Mapped<Mapper>::template map<Minimum, Numbers, 2>},
    {"max_broadcast", Mapped<Mapper>::template map<Maximum, Numbers, 2>},
    {"less_broadcast", Mapped<Mapper>::template compare<Less>},
    {"equal_broadcast", Mapped<Mapper>::template compare<Equal>},
    {"where_broadcast", Mapped<Mapper>::where},
};

template <class Mapper>
inline constexpr KernelRow integer_rows[] = {
    {"floor_divide", Mapped<Mapper>::template map<FloorDivide, Integers, 2>},
    {"remainder", Mapped<Mapper>::template map<Remainder, Integers, 2>},
    {"shift_left", Mapped<Mapper>::template map<ShiftLeft, Integers, 2>},
    {"shift_right", Mapped<Mapper>::template map<ShiftRight, Integers, 2>},
    {"bit_and", Mapped<Mapper>::template map<BitAnd, Integers, 2>},
    {"bit_or", Mapped<Mapper>::template map<BitOr, Integers, 2>},
    {"bit_xor", Mapped<Mapper>::template map<BitXor, Integers, 2>},
    {"bit_not", Mapped<Mapper>::template map<BitNot, Integers, 1>},
};

/// `Functions` names the implementation of each function.
template <class Mapper, class Functions>
inline constexpr KernelRow function_rows[] = {
    {"exp", Mapped<Mapper>::template map<typename Functions::Exp, Floats, 1>},
    {"log", Mapped<Mapper>::template map<typename Functions::Log, Floats, 1>},
    {"tanh", Mapped<Mapper>::template map<typename Functions::Tanh, Floats, 1>},
    {"sigmoid", Mapped<Mapper>::template map<typename Functions::Logistic, Floats, 1>},
    {"gelu", Mapped<Mapper>::template map<typename Functions::Gelu, Floats, 1>},
    {"gelu_tanh", Mapped<Mapper>::template map<typename Functions::GeluTanh, Floats, 1>},
    {"pow", Mapped<Mapper>::template map<typename Functions::Pow, Floats, 2>},
};

}  // namespace assay
