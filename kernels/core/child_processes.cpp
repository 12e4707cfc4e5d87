#include "kernels/core/child_processes.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace assay {
std::vector<pid_t> children_of(pid_t process) {
  namespace fs = std::filesystem;
  std::vector<pid_t> children;
  std::error_code gone;
  const fs::path threads = fs::path("/proc") / std::to_string(process) / "task";
  for (const auto& thread : fs::directory_iterator(threads, gone)) {
    std::ifstream list(thread.path() / "children");
    for (pid_t child = 0; list >> child;) children.push_back(child);
  }
  return children;
}

std::vector<pid_t> with_descendants(std::vector<pid_t> found) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const pid_t next : children_of(found[i])) found.push_back(next);
  }
  return found;
}

}  // namespace assay
