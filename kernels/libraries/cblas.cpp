// A BLAS by its C interface, opened by name: `--kernels openblas`, `--kernels mkl`. ASSAY_BLAS says
// which this module is for. ASSAY_LIBRARY in the environment names another file of the same.
#include <algorithm>
#include <array>
#include <string>

#include "kernels/libraries/library.h"
#include "kernels/libraries/opened.h"
#include "kernels/libraries/products.h"

namespace assay::libraries {
namespace {

constexpr std::string_view which = ASSAY_BLAS;
static_assert(which == "openblas" || which == "mkl");

/// Numbers of the interface's enums, the same in each library.
enum Order { row_major = 101 };
enum Transposition { as_stored = 111, transposed = 112 };

const Opened& blas() {
  static const Opened opened =
      which == "mkl"
          ? Opened({"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so.1", "libmkl_rt.so"},
                   "Python's package mkl has it, as lib/libmkl_rt.so.3")
          : Opened({"libopenblas.so.0", "libopenblas.so"},
                   "Debian's package libopenblas0-openmp has it");
  return opened;
}

std::string version() {
  if (which == "mkl") {
    std::array<char, 200> text{};
    if (auto* get = blas().find<void(char*, int)>("mkl_get_version_string"))
      get(text.data(), static_cast<int>(text.size()) - 1);
    std::string line(text.data());
    // "Intel(R) oneAPI Math Kernel Library Version 2024.2-Product Build ..."
    const std::size_t at = line.find("Version ");
    line = at == std::string::npos ? "" : line.substr(at + 8);
    return "MKL " + line.substr(0, line.find_first_of("- "));
  }
  auto* config = blas().find<char*()>("openblas_get_config");
  const std::string text = config == nullptr ? "OpenBLAS" : config();
  return text.substr(0, text.find(' ', text.find(' ') + 1));  // "OpenBLAS 0.3.21 NO_LAPACKE ..."
}

template <class T>
constexpr const char* letter = sizeof(T) == 4 ? "s" : "d";

template <class T>
std::string cblas_name(const char* rest) {
  return std::string("cblas_") + letter<T> + rest;
}

template <class T>
using Gemm = void(Order, Transposition, Transposition, int, int, int, T, const T*, int, const T*,
                  int, T, T*, int);

template <class T>
Made products(const Problem& problem) {
  const Products p = products_of(problem);
  auto* gemm = blas().need<Gemm<T>>(cblas_name<T>("gemm"));
  const int m = extent(p.m);
  const int n = extent(p.n);
  const int k = extent(p.k);
  return {[=](const void* const* in, void* const* out, void*) {
            for (std::int64_t i = 0; i < p.batch; ++i) {
              gemm(row_major, p.a_transposed ? transposed : as_stored,
                   p.b_transposed ? transposed : as_stored, m, n, k, 1,
                   static_cast<const T*>(in[0]) + i * m * k,
                   std::max(1, static_cast<int>(p.row_of_a())),
                   static_cast<const T*>(in[1]) + i * k * n,
                   std::max(1, static_cast<int>(p.row_of_b())), 0,
                   static_cast<T*>(out[0]) + i * m * n, std::max(1, n));
            }
          },
          cblas_name<T>("gemm")};
}

template <class T>
Made dot(const Problem& p) {
  auto* call = blas().need<T(int, const T*, int, const T*, int)>(cblas_name<T>("dot"));
  const int n = extent(elements(p.input(0)));
  return {[=](const void* const* in, void* const* out, void*) {
            *static_cast<T*>(out[0]) =
                call(n, static_cast<const T*>(in[0]), 1, static_cast<const T*>(in[1]), 1);
          },
          cblas_name<T>("dot")};
}

template <class T>
Made norm2(const Problem& p) {
  auto* call = blas().need<T(int, const T*, int)>(cblas_name<T>("nrm2"));
  const int n = extent(elements(p.input(0)));
  return {[=](const void* const* in, void* const* out, void*) {
            *static_cast<T*>(out[0]) = call(n, static_cast<const T*>(in[0]), 1);
          },
          cblas_name<T>("nrm2")};
}

/// y = x a, by a copy that is scaled in place.
template <class T>
Made scale(const Problem& p) {
  auto* copy = blas().need<void(int, const T*, int, T*, int)>(cblas_name<T>("copy"));
  auto* call = blas().need<void(int, T, T*, int)>(cblas_name<T>("scal"));
  const int n = extent(elements(p.input(0)));
  return {[=](const void* const* in, void* const* out, void*) {
            auto* y = static_cast<T*>(out[0]);
            copy(n, static_cast<const T*>(in[0]), 1, y, 1);
            call(n, *static_cast<const T*>(in[1]), y, 1);
          },
          cblas_name<T>("copy, ") + cblas_name<T>("scal")};
}

/// A function of MKL's vector mathematics, VML: y = f(x), or f(a, b).
Made vector_function(const Problem& p, const std::string& name) {
  const int n = extent(elements(p.output()));
  const std::string full = (p.dtype() == "f32" ? "vs" : "vd") + name;
  if (p.input(0) != p.output()) throw NotMine("it has no repeated operands");
  if (p.op() == "add" || p.op() == "sub" || p.op() == "mul" || p.op() == "div" || p.op() == "pow") {
    auto* call = blas().need<void(int, const void*, const void*, void*)>(full);
    return {[=](const void* const* in, void* const* out, void*) { call(n, in[0], in[1], out[0]); },
            full};
  }
  auto* call = blas().need<void(int, const void*, void*)>(full);
  return {[=](const void* const* in, void* const* out, void*) { call(n, in[0], out[0]); }, full};
}

Library open() {
  Library library{.name = version()};
  const auto offer = [&](const char* op, auto make) {
    library.offers.push_back({op, "f32,f64", make});
  };
  for (const char* op : {"linear", "linear_dx", "linear_dw", "batched_matmul"})
    offer(op, of_dtype<products<float>, products<double>>);
  offer("dot", of_dtype<dot<float>, dot<double>>);
  offer("norm2", of_dtype<norm2<float>, norm2<double>>);
  offer("scale", of_dtype<scale<float>, scale<double>>);
  if (which == "mkl") {
    constexpr std::array<std::array<const char*, 2>, 14> functions{{{"exp", "Exp"},
                                                                    {"log", "Ln"},
                                                                    {"tanh", "Tanh"},
                                                                    {"sqrt", "Sqrt"},
                                                                    {"square", "Sqr"},
                                                                    {"abs", "Abs"},
                                                                    {"floor", "Floor"},
                                                                    {"ceil", "Ceil"},
                                                                    {"round", "Rint"},
                                                                    {"add", "Add"},
                                                                    {"sub", "Sub"},
                                                                    {"mul", "Mul"},
                                                                    {"div", "Div"},
                                                                    {"pow", "Pow"}}};
    for (const auto& [op, name] : functions) {
      offer(op, [function = std::string(name)](const Problem& p) {
        return vector_function(p, function);
      });
    }
  }
  return library;
}

}  // namespace
}  // namespace assay::libraries

extern "C" __attribute__((visibility("default"))) const assay_kernel_table* assay_kernels() {
  return assay::libraries::table_of(assay::libraries::open);
}
