#include "emulator/machine/driver_functions.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>

#include "emulator/machine/access.h"
#include "emulator/machine/block.h"

namespace emulator {
namespace {

constexpr std::size_t max_text = 4096;

/// One lane's reads of generic memory, one byte after the other.
class Reader {
 public:
  Reader(Warp& warp, int lane) : warp_(warp), lane_(lane) {}

  std::uint64_t bytes(std::uint64_t address, unsigned count) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < count; ++i) {
      const Target target = locate(warp_, generic_, lane_, address + i, 1, Access::read);
      value |= static_cast<std::uint64_t>(*target.data) << (8 * i);
    }
    return value;
  }
  std::string text(std::uint64_t address) {
    std::string result;
    while (result.size() < max_text) {
      const auto c = static_cast<char>(bytes(address + result.size(), 1));
      if (c == '\0') break;
      result += c;
    }
    return result;
  }

 private:
  Warp& warp_;
  int lane_;
  Code generic_;
};

std::uint64_t argument(Warp& warp, const CallSite& site, int lane, std::size_t index) {
  const Frame& frame = *warp.frame();
  const CallSite::Copy& copy = site.arguments[index];
  std::uint64_t value = 0;
  std::memcpy(&value,
              frame.parameters.data() +
                  std::size_t{frame.function->parameter_bytes} * static_cast<unsigned>(lane) +
                  copy.from,
              copy.bytes);
  return value;
}

void give(Warp& warp, const CallSite& site, int lane, const void* result, std::size_t bytes) {
  if (site.results.empty()) return;
  Frame& frame = *warp.frame();
  std::memcpy(frame.parameters.data() +
                  std::size_t{frame.function->parameter_bytes} * static_cast<unsigned>(lane) +
                  site.results[0].to,
              result, bytes);
}

void allocate(Warp& warp, const CallSite& site, int lane) {
  DeviceHeap* heap = warp.block().context().launch.heap;
  const std::uint64_t bytes = argument(warp, site, lane, 0);
  const std::uint64_t address = heap == nullptr ? 0 : heap->allocate(bytes);
  give(warp, site, lane, &address, sizeof address);
}

void release(Warp& warp, const CallSite& site, int lane) {
  const LaunchContext& context = warp.block().context();
  const std::uint64_t address = argument(warp, site, lane, 0);
  if (address == 0) return;
  if (context.launch.heap == nullptr || !context.launch.heap->release(address))
    warp.fault(FaultKind::illegal_address, lane,
               fmt::format("free({:#x}), which no malloc of a kernel returned: it is {}", address,
                           context.memory.describe(address)));
}

/// The arguments lie as in a struct: 4 or 8 bytes each, aligned.
std::string formatted(Reader& reader, const std::string& format, std::uint64_t arguments,
                      int& conversions) {
  std::string out;
  std::uint64_t at = arguments;
  const auto next = [&](unsigned count) {
    at = (at + count - 1) / count * count;
    const std::uint64_t value = reader.bytes(at, count);
    at += count;
    return value;
  };
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out += format[i];
      continue;
    }
    std::string specification = "%";
    bool wide = false;
    for (++i; i < format.size(); ++i) {
      const char c = format[i];
      if (c == 'l' || c == 'z' || c == 'j' || c == 't') {
        wide = true;
      } else if (c == '*') {
        specification += std::to_string(static_cast<std::int32_t>(next(4)));
      } else if (c != 'h') {
        specification += c;
        if (std::strchr("diouxXeEfFgGaAcsp%", c) != nullptr) break;
      }
    }
    const char conversion = specification.back();
    if (conversion == '%') {
      out += '%';
      continue;
    }
    ++conversions;
    char buffer[512];
    const std::string head = specification.substr(0, specification.size() - 1);
    if (std::strchr("eEfFgGaA", conversion) != nullptr) {
      const std::uint64_t bits = next(8);
      double value;
      std::memcpy(&value, &bits, 8);
      std::snprintf(buffer, sizeof buffer, specification.c_str(), value);
    } else if (conversion == 's') {
      const std::uint64_t address = next(8);
      std::snprintf(buffer, sizeof buffer, specification.c_str(), reader.text(address).c_str());
    } else if (conversion == 'c') {
      std::snprintf(buffer, sizeof buffer, specification.c_str(), static_cast<int>(next(4)));
    } else if (conversion == 'p') {
      std::snprintf(buffer, sizeof buffer, (head + "p").c_str(), reinterpret_cast<void*>(next(8)));
    } else {
      const std::uint64_t bits = next(wide ? 8 : 4);
      const bool is_signed = conversion == 'd' || conversion == 'i';
      const auto value = !wide && is_signed
                             ? static_cast<std::int64_t>(static_cast<std::int32_t>(bits))
                             : static_cast<std::int64_t>(bits);
      std::snprintf(buffer, sizeof buffer, (head + "ll" + conversion).c_str(),
                    static_cast<long long>(value));
    }
    out += buffer;
  }
  return out;
}

}  // namespace

bool is_driver_function(std::string_view name) {
  return name == "vprintf" || name == "__assertfail" || name == "malloc" || name == "free";
}

void call_driver_function(Warp& warp, const CallSite& site, Mask lanes) {
  for_lanes(lanes, [&](int lane) {
    Reader reader(warp, lane);
    if (site.name == "malloc") return allocate(warp, site, lane);
    if (site.name == "free") return release(warp, site, lane);
    if (site.name == "__assertfail") {
      const auto line = static_cast<std::uint32_t>(argument(warp, site, lane, 2));
      warp.fault(FaultKind::trap, lane,
                 fmt::format("{}:{}: {}: assertion `{}` failed",
                             reader.text(argument(warp, site, lane, 1)), line,
                             reader.text(argument(warp, site, lane, 3)),
                             reader.text(argument(warp, site, lane, 0))));
    }
    int conversions = 0;
    const std::uint64_t arguments = argument(warp, site, lane, 1);
    const std::string text =
        formatted(reader, reader.text(argument(warp, site, lane, 0)), arguments, conversions);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
    give(warp, site, lane, &conversions, sizeof conversions);
  });
}

}  // namespace emulator
