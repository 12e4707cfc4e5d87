#include "emulator/runtime/say.h"

#include <cstdio>
#include <cstdlib>

namespace emulator {

void say(const std::string& text) {
  std::fprintf(stderr, "emulator: %s\n", text.c_str());
  const char* log = std::getenv("ASSAY_EMULATOR_LOG");
  if (log == nullptr || *log == '\0') return;
  if (std::FILE* file = std::fopen(log, "a")) {
    std::fprintf(file, "emulator: %s\n", text.c_str());
    std::fclose(file);
  }
}

void give_up(const std::string& why) {
  say(why);
  std::abort();
}

}  // namespace emulator
