#include "session/process/own_run.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "harness/supervise/child_process.h"
#include "kernels/core/file_descriptor.h"
#include "kernels/core/this_program.h"

namespace assay {

namespace fs = std::filesystem;

namespace {

FileDescriptor open_file(const fs::path& path, int flags) {
  constexpr mode_t mode = 0644;
  FileDescriptor file(open(path.c_str(), flags | O_CLOEXEC, mode));
  if (file.get() < 0) {
    throw std::system_error(errno, std::generic_category(), "cannot open " + path.string());
  }
  return file;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (fs::temp_directory_path() / "assay-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), "mkdtemp " + pattern);
  }
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

int run_self(std::vector<std::string> arguments,
             std::vector<std::pair<std::string, std::string>> environment, const fs::path& errors) {
  arguments.insert(arguments.begin(), this_program().string());
  const FileDescriptor nowhere = open_file("/dev/null", O_RDWR);
  const FileDescriptor error = open_file(errors, O_WRONLY | O_CREAT | O_TRUNC);
  const pid_t pid = start_child({.arguments = std::move(arguments),
                                 .environment = std::move(environment),
                                 .streams = {nowhere.get(), nowhere.get(), error.get()}});
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace assay
