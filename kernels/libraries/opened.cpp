#include "kernels/libraries/opened.h"

#include <cstdlib>
#include <vector>

namespace assay::libraries {

Opened::Opened(std::initializer_list<std::string> names, std::string_view remedy) {
  const char* chosen = std::getenv("ASSAY_LIBRARY");
  const bool is_chosen = chosen != nullptr && *chosen != 0;
  std::string why;
  for (const std::string& name : is_chosen ? std::vector<std::string>{chosen} : names) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) return;
    if (why.empty()) why = dlerror();
  }
  throw std::runtime_error(why +
                           ". Install it, or name its file by --library: " + std::string(remedy));
}

}  // namespace assay::libraries
