#include <cstdlib>
#include <string_view>

#include "emulator/machine/machine.h"

namespace emulator {

Settings Settings::from_environment() {
  Settings settings;
  if (const char* seed = std::getenv("ASSAY_EMULATOR_SEED"))
    settings.seed = std::strtoull(seed, nullptr, 0);
  if (const char* threads = std::getenv("ASSAY_EMULATOR_THREADS"))
    settings.threads = static_cast<int>(std::strtol(threads, nullptr, 10));
  const char* approximate = std::getenv("ASSAY_EMULATOR_APPROXIMATE");
  settings.approximate = approximate != nullptr && std::string_view(approximate) != "" &&
                         std::string_view(approximate) != "0";
  return settings;
}

}  // namespace emulator
