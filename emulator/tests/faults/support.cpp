#include "emulator/tests/faults/support.h"

#include <cctype>
#include <sstream>

namespace emulator::test {
namespace {

// The first number after a word: "thread (7, 0, 0)" and "thread 7" both say 7.
std::optional<unsigned> number_after(const std::string& text, const std::string& word) {
  std::size_t at = text.find(word);
  if (at == std::string::npos) return std::nullopt;
  while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) == 0) ++at;
  if (at == text.size()) return std::nullopt;
  return static_cast<unsigned>(std::stoul(text.substr(at)));
}

std::string hexadecimal(std::uintptr_t address) {
  std::ostringstream text;
  text << std::hex << address;
  return text.str();
}

}  // namespace

void expect_report(const Fault& fault, const std::string& kernel, const Report& report) {
  std::string text = fault.what();
  EXPECT_EQ(fault.kind, report.kind) << text;
  const std::size_t name = text.find(kernel);
  EXPECT_NE(name, std::string::npos) << text;
  if (name != std::string::npos) text.erase(name, kernel.size());  // it may hold the words below
  const auto block = number_after(text, "block"), thread = number_after(text, "thread");
  EXPECT_TRUE(block.has_value()) << text;
  EXPECT_TRUE(thread.has_value()) << text;
  if (report.block) {
    EXPECT_EQ(block, report.block) << text;
  }
  if (report.thread) {
    EXPECT_EQ(thread, report.thread) << text;
  }
  if (report.address) {
    EXPECT_NE(text.find(hexadecimal(*report.address)), std::string::npos)
        << text << " lacks " << hexadecimal(*report.address);
  }
}

}  // namespace emulator::test
