#include "reports/files/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

namespace assay {
namespace {

/// deflateInit2 and deflateEnd.
class Deflate {
 public:
  Deflate() {
    constexpr int gzip_window = 15 + 16;  // 16 asks for gzip rather than zlib
    constexpr int memory_level = 9;
    if (deflateInit2(&stream_, Z_BEST_COMPRESSION, Z_DEFLATED, gzip_window, memory_level,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::runtime_error("zlib: no memory");
    }
  }
  Deflate(const Deflate&) = delete;
  Deflate& operator=(const Deflate&) = delete;
  ~Deflate() { deflateEnd(&stream_); }
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
};

}  // namespace

std::string gzip(std::string_view bytes) {
  Deflate deflation;
  z_stream& stream = deflation.stream();
  std::string packed;
  std::array<unsigned char, 1 << 16> buffer{};
  constexpr std::size_t most = std::numeric_limits<uInt>::max();
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    const std::string_view piece = bytes.substr(0, most);
    bytes.remove_prefix(piece.size());
    // zlib reads through a pointer to non-const by history alone.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream.avail_in = static_cast<uInt>(piece.size());
    do {
      stream.next_out = buffer.data();
      stream.avail_out = static_cast<uInt>(buffer.size());
      state = deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
      if (state == Z_STREAM_ERROR) throw std::logic_error("zlib: deflate");
      packed.append(reinterpret_cast<const char*>(buffer.data()), buffer.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  }
  return packed;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr std::size_t group = 3;
  std::string text;
  text.reserve((bytes.size() + group - 1) / group * 4);
  for (std::size_t i = 0; i < bytes.size(); i += group) {
    const std::size_t count = std::min(group, bytes.size() - i);
    unsigned bits = 0;
    for (std::size_t b = 0; b < group; ++b) {
      bits = bits << 8U | (b < count ? static_cast<unsigned char>(bytes[i + b]) : 0U);
    }
    for (unsigned digit = 0; digit < 4; ++digit) {
      text += digit <= count ? digits[bits >> (18 - 6 * digit) & 63U] : '=';
    }
  }
  return text;
}

}  // namespace assay
