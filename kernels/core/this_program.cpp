#include "kernels/core/this_program.h"

#include <fstream>
#include <stdexcept>
#include <system_error>

namespace assay {

std::filesystem::path this_program() {
  std::error_code error;
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    throw std::runtime_error(
        "/proc is not here, by which processes, memory and the program itself are found: mount it "
        "(mount -t proc proc /proc)");
  }
  return program;
}

std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

}  // namespace assay
