#include "reports/files/checksum.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Crc32, IsThePublishedOne) {
  EXPECT_EQ(crc32_text("123456789"), "cbf43926");  // the check value of CRC-32/ISO-HDLC
  EXPECT_EQ(crc32_text(""), "00000000");
}

}  // namespace
}  // namespace assay
