#include "tests/kernel_counts/registers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace assay::kernel_counts {
namespace {

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (!pipe) throw std::runtime_error("cannot start: " + command);
  std::string text;
  std::array<char, 4096> part;
  while (const std::size_t bytes = fread(part.data(), 1, part.size(), pipe.get()))
    text.append(part.data(), bytes);
  return text;
}

}  // namespace

std::map<std::string, int> read_registers(std::string_view text) {
  constexpr std::string_view entry = "Compiling entry function '", used = "Used ";
  std::map<std::string, int> registers;
  std::string kernel;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (const std::size_t at = line.find(entry); at != std::string::npos) {
      const std::size_t begin = at + entry.size();
      kernel = line.substr(begin, line.find('\'', begin) - begin);
    } else if (const std::size_t of = line.find(used); of != std::string::npos && !kernel.empty()) {
      registers[kernel] = std::stoi(line.substr(of + used.size()));
      kernel.clear();
    }
  }
  return registers;
}

void Registers::read(std::string_view ptx, const std::vector<std::string>& kernels) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("assay-kernel-counts-{}.ptx", getpid());
  std::ofstream(file) << ptx;
  const std::string text =
      output_of(fmt::format("{} --verbose --gpu-name {} --entry {} --output-file /dev/null {} 2>&1",
                            ASSAY_PTXAS, architecture_, fmt::join(kernels, ","), file.string()));
  std::filesystem::remove(file);
  registers_.merge(read_registers(text));
  for (const std::string& kernel : kernels)
    if (!registers_.contains(kernel))
      throw std::runtime_error(fmt::format("ptxas for {} does not tell the registers of {}:\n{}",
                                           architecture_, kernel, text.substr(0, 2000)));
}

}  // namespace assay::kernel_counts
