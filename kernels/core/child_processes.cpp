#include "kernels/core/child_processes.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <system_error>

namespace assay {
namespace {

std::set<pid_t>& trusted() {
  static std::set<pid_t> children;
  return children;
}

}  // namespace

void trust_child(pid_t child) { trusted().insert(child); }

void distrust_child(pid_t child) { trusted().erase(child); }

std::vector<pid_t> untrusted_children() {
  std::vector<pid_t> children = children_of(getpid());
  std::erase_if(children, [](pid_t child) { return trusted().contains(child); });
  return children;
}

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
