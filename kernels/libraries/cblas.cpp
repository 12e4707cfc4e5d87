// A BLAS by its C interface, opened by name: `--kernels openblas`, `--kernels mkl`. ASSAY_BLAS says
// which this module is for. ASSAY_LIBRARY in the environment names another file of the same.
#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "kernels/libraries/library.h"

namespace assay::libraries {
namespace {

constexpr std::string_view which = ASSAY_BLAS;
static_assert(which == "openblas" || which == "mkl");

/// Numbers of the interface's enums, the same in each library.
enum Order { row_major = 101 };
enum Transposition { as_stored = 111, transposed = 112 };

class Opened {
 public:
  Opened() {
    const char* chosen = std::getenv("ASSAY_LIBRARY");
    std::string why;
    if (chosen != nullptr && *chosen != 0) {
      open(chosen, why);
    } else if (which == "mkl") {
      for (const char* name :
           {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so.1", "libmkl_rt.so"})
        open(name, why);
    } else {
      for (const char* name : {"libopenblas.so.0", "libopenblas.so"}) open(name, why);
    }
    if (handle_ == nullptr) {
      constexpr std::string_view remedy = which == "mkl"
                                              ? "Python's package mkl has it, as lib/libmkl_rt.so.3"
                                              : "Debian's package libopenblas0-openmp has it";
      throw std::runtime_error(
          why + ". Install it, or name its file by --library: " + std::string(remedy));
    }
  }

  template <class F>
  F* find(const std::string& name) const {
    return reinterpret_cast<F*>(dlsym(handle_, name.c_str()));
  }
  template <class F>
  F* need(const std::string& name) const {
    F* function = find<F>(name);
    if (function == nullptr) throw std::runtime_error("it has no function " + name);
    return function;
  }

 private:
  void open(const char* name, std::string& why) {
    if (handle_ != nullptr) return;
    handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr && why.empty()) why = dlerror();
  }
  void* handle_ = nullptr;
};

const Opened& blas() {
  static const Opened opened;
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

/// Extent as a BLAS counts it.
int extent(std::int64_t n) {
  if (n > std::numeric_limits<int>::max()) throw NotMine("it counts by 32 bits");
  return static_cast<int>(n);
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

/// m rows of n sums of k products, of each of `batch` pairs of matrices.
template <class T>
Made product(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, Transposition a,
             Transposition b) {
  auto* gemm = blas().need<Gemm<T>>(cblas_name<T>("gemm"));
  const int rows = extent(m);
  const int columns = extent(n);
  const int depth = extent(k);
  const int row_of_a = a == transposed ? rows : depth;
  const int row_of_b = b == transposed ? depth : columns;
  return {[=](const void* const* in, void* const* out, void*) {
            for (std::int64_t i = 0; i < batch; ++i) {
              gemm(row_major, a, b, rows, columns, depth, 1,
                   static_cast<const T*>(in[0]) + i * m * k, std::max(1, row_of_a),
                   static_cast<const T*>(in[1]) + i * k * n, std::max(1, row_of_b), 0,
                   static_cast<T*>(out[0]) + i * m * n, std::max(1, columns));
            }
          },
          cblas_name<T>("gemm")};
}

template <class T>
Made linear(const Problem& p) {
  if (p.word("bias") == "1" || p.word("act") != "none")
    throw NotMine("a BLAS has neither bias nor activation");
  const Shape& w = p.input(1);
  return product<T>(1, p.input(0)[0], w[0], w[1], as_stored, transposed);
}

template <class T>
Made batched_matmul(const Problem& p) {
  const Shape& a = p.input(0);
  return product<T>(a[0], a[1], p.input(1)[2], a[2], as_stored, as_stored);
}

template <class T>
Made linear_dx(const Problem& p) {
  const Shape& dy = p.input(0);
  return product<T>(1, dy[0], p.input(1)[1], dy[1], as_stored, as_stored);
}

template <class T>
Made linear_dw(const Problem& p) {
  const Shape& dy = p.input(0);
  return product<T>(1, dy[1], p.input(1)[1], dy[0], transposed, as_stored);
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

/// The call for f32 or f64, by the problem's dtype.
template <Made (*f32)(const Problem&), Made (*f64)(const Problem&)>
Made of_dtype(const Problem& p) {
  return p.dtype() == "f32" ? f32(p) : f64(p);
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
  offer("linear", of_dtype<linear<float>, linear<double>>);
  offer("linear_dx", of_dtype<linear_dx<float>, linear_dx<double>>);
  offer("linear_dw", of_dtype<linear_dw<float>, linear_dw<double>>);
  offer("batched_matmul", of_dtype<batched_matmul<float>, batched_matmul<double>>);
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
