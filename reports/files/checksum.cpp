#include "reports/files/checksum.h"

#include <fmt/format.h>
#include <zlib.h>

namespace assay {

std::string crc32_text(std::string_view bytes) {
  const auto* const data = reinterpret_cast<const Bytef*>(bytes.data());
  return fmt::format("{:08x}", crc32_z(crc32_z(0, nullptr, 0), data, bytes.size()));
}

}  // namespace assay
