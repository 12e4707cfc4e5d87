#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

namespace assay::libraries {

/// A shared library that is opened by name, and stays open.
class Opened {
 public:
  /// Opens the file that ASSAY_LIBRARY in the environment names, or else the first of `names` that
  /// is there. Throws with the loader's words and the remedy.
  Opened(std::initializer_list<std::string> names, std::string_view remedy);

  /// Null if the library has none of that name.
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
  void* handle_ = nullptr;
};

}  // namespace assay::libraries
