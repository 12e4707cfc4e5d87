#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

// Runs of this very program, for commands that judge what it does.
namespace assay {

/// A folder that is removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Runs this program without its output; standard error goes to `errors`. Returns its exit code, or
/// 128 and the signal.
int run_self(std::vector<std::string> arguments,
             std::vector<std::pair<std::string, std::string>> environment,
             const std::filesystem::path& errors = "/dev/null");

}  // namespace assay
