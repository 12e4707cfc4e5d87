#include "reports/files/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <array>

#include "tests/unit/reports_support.h"

namespace assay {
namespace {

std::string unpacked(const std::string& packed) {
  const testing_support::TemporaryDirectory folder;
  testing_support::write_file(folder / "file.gz", packed);
  gzFile file = gzopen((folder / "file.gz").c_str(), "rb");
  EXPECT_EQ(gzdirect(file), 0) << "no gzip file";
  std::string text;
  std::array<char, 4096> buffer{};
  int read = 0;
  while ((read = gzread(file, buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(read));
  }
  EXPECT_EQ(read, 0) << "a torn file";
  EXPECT_EQ(gzclose(file), Z_OK);
  return text;
}

TEST(Gzip, IsUnpackedByOthers) {
  std::string large;
  for (int i = 0; i < 100000; ++i) large += std::to_string(i * 7919) + ",";
  for (const std::string& text : {std::string("a"), std::string("\0\xFF\n", 3), large}) {
    EXPECT_EQ(unpacked(gzip(text)), text);
  }
  EXPECT_LT(gzip(large).size(), large.size() / 2);
  EXPECT_EQ(gzip(large), gzip(large));
}

TEST(Gzip, OfNothingIsAFileToo) {
  const std::string packed = gzip("");
  EXPECT_GT(packed.size(), 10U) << "a header and a trailer";
  EXPECT_EQ(unpacked(packed), "");
}

TEST(Base64, IsThatOfTheRfc) {
  // RFC 4648, section 10.
  const std::array<std::pair<std::string_view, std::string_view>, 7> vectors{
      {{"", ""},
       {"f", "Zg=="},
       {"fo", "Zm8="},
       {"foo", "Zm9v"},
       {"foob", "Zm9vYg=="},
       {"fooba", "Zm9vYmE="},
       {"foobar", "Zm9vYmFy"}}};
  for (const auto& [bytes, text] : vectors) EXPECT_EQ(base64(bytes), text);
  EXPECT_EQ(base64(std::string_view("\xFB\xFF\x00", 3)), "+/8A");
}

}  // namespace
}  // namespace assay
