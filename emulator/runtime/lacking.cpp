#include "emulator/runtime/lacking.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "emulator/runtime/report_file.h"
#include "emulator/runtime/say.h"

namespace emulator {

void say_lacking(const std::string& text) {
  say(text);
  write_report({{"check", "emulator"}, {"kind", "lacking"}, {"text", text}, {"process", getpid()}});
}

}  // namespace emulator
