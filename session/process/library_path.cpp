#include "session/process/library_path.h"

#include <link.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "kernels/core/names.h"
#include "kernels/core/status.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 2> of_the_loader{"libc.so.6", "ld-linux-x86-64.so.2"};

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> paths;
  const auto add = [](dl_phdr_info* info, std::size_t /*size*/, void* to) {
    if (*info->dlpi_name != 0)
      static_cast<std::vector<std::string>*>(to)->emplace_back(info->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(add, &paths);
  return paths;
}

}  // namespace

std::vector<std::string> replacements(std::string_view folders,
                                      std::span<const std::string> loaded) {
  std::vector<std::string> found;
  for (const std::string& path : loaded) {
    const std::string name = fs::path(path).filename().string();
    if (std::ranges::find(of_the_loader, name) != of_the_loader.end()) continue;
    for (const std::string& folder : split(folders, ':')) {
      if (folder.empty()) continue;
      const fs::path candidate = fs::path(folder) / name;
      std::error_code missing;
      if (!fs::is_regular_file(candidate, missing)) continue;
      if (!fs::equivalent(candidate, path, missing)) {
        found.push_back(fs::absolute(candidate).string());
      }
      break;
    }
  }
  return found;
}

Variables with_library_path(Variables variables) {
  const auto folders =
      std::ranges::find(variables, "LD_LIBRARY_PATH", &std::pair<std::string, std::string>::first);
  if (folders == variables.end()) return variables;
  std::vector<std::string> preloaded = replacements(folders->second, loaded_libraries());
  for (const std::string& path : preloaded) {
    if (path.find_first_of(" :") != std::string::npos) {
      throw UsageError("LD_LIBRARY_PATH: the path of a library must have no space or colon: " +
                       path);
    }
  }
  if (preloaded.empty()) return variables;
  auto given =
      std::ranges::find(variables, "LD_PRELOAD", &std::pair<std::string, std::string>::first);
  const char* inherited = std::getenv("LD_PRELOAD");
  const std::string others =
      given != variables.end() ? given->second : std::string(inherited != nullptr ? inherited : "");
  if (!others.empty()) preloaded.push_back(others);
  variables.emplace_back("LD_PRELOAD", join(preloaded, ":"));
  return variables;
}

}  // namespace assay
