#pragma once

#include <array>

#include "kernels/core/element_functions.h"
#include "kernels/device/kernels.h"

// Table of elementwise kernels and functions that all backends share.
namespace assay {

/// `Backend` makes the kernels:
///   map<F, Types, inputs>  y[i] = F(x[i], ...), all in the op's dtype, which is one of Types
///   compare<F>             y[i] = F(a[i], b[i]), numbers of any dtype to a byte
///   and the remaining ops by name.
template <class Backend>
inline constexpr std::array<KernelRow, 18> elementwise_rows{{
    {"add", Backend::template map<Add, Numbers, 2>},
    {"sub", Backend::template map<Subtract, Numbers, 2>},
    {"mul", Backend::template map<Multiply, Numbers, 2>},
    {"div", Backend::template map<Divide, Floats, 2>},
    {"square", Backend::template map<Square, Numbers, 1>},
    {"neg", Backend::template map<Negate, SignedNumbers, 1>},
    {"abs", Backend::template map<Absolute, SignedNumbers, 1>},
    {"sqrt", Backend::template map<SquareRoot, Floats, 1>},
    {"min", Backend::template map<Minimum, Numbers, 2>},
    {"max", Backend::template map<Maximum, Numbers, 2>},
    {"relu", Backend::template map<Relu, Floats, 1>},
    {"less", Backend::template compare<Less>},
    {"equal", Backend::template compare<Equal>},
    {"fma", Backend::fma},
    {"scale", Backend::scale},
    {"where", Backend::where},
    {"copy", Backend::copy},
    {"fill", Backend::fill},
}};

/// `Functions` names the implementation of each function.
template <class Backend, class Functions>
inline constexpr std::array<KernelRow, 7> function_rows{{
    {"exp", Backend::template map<typename Functions::Exp, Floats, 1>},
    {"log", Backend::template map<typename Functions::Log, Floats, 1>},
    {"tanh", Backend::template map<typename Functions::Tanh, Floats, 1>},
    {"sigmoid", Backend::template map<typename Functions::Logistic, Floats, 1>},
    {"gelu", Backend::template map<typename Functions::Gelu, Floats, 1>},
    {"gelu_tanh", Backend::template map<typename Functions::GeluTanh, Floats, 1>},
    {"pow", Backend::template map<typename Functions::Pow, Floats, 2>},
}};

}  // namespace assay
