#include "emulator/runtime/leaks.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include "emulator/runtime/events.h"
#include "emulator/runtime/graphs.h"
#include "emulator/runtime/say.h"
#include "emulator/runtime/streams.h"

namespace emulator {
namespace {

void report(std::size_t count, const std::string& what) {
  if (count > 0) say("leak: " + std::to_string(count) + " " + what + " not released");
}

}  // namespace

void report_leaks(const Process& p) {
  const char* wanted = std::getenv("ASSAY_EMULATOR_LEAKS");
  if (wanted == nullptr || std::strcmp(wanted, "1") != 0) return;
  for (const auto& [address, device] : p.allocations) {
    const auto allocation = p.memory.find(address);
    report(allocation ? allocation->bytes : 0, "bytes of device " + std::to_string(device));
  }
  for (const auto& [address, pinned] : p.pinned) report(pinned.bytes, "bytes of pinned memory");
  report(p.streams.all().size(), "streams");
  report(p.events.all().size(), "events");
  report(p.graphs.all().size(), "graphs");
  report(p.executable_graphs.all().size(), "executable graphs");
}

}  // namespace emulator
