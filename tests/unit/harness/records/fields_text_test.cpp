#include "harness/records/fields_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <locale>
#include <set>
#include <sstream>

namespace assay {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(ToCell, WritesEachKindOfField) {
  EXPECT_EQ(to_cell(std::string("a,b")), "a,b");
  EXPECT_EQ(to_cell("text"), "text") << "a literal is no boolean";
  EXPECT_EQ(to_cell("\xFF…"), "�…") << "a file that promises UTF-8 holds nothing else";
  EXPECT_EQ(to_cell(std::int64_t{-5}), "-5");
  EXPECT_EQ(to_cell(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(to_cell(true), "true");
  EXPECT_EQ(to_cell(false), "false");
  EXPECT_EQ(to_cell(Status::device_lost), "device_lost");
  EXPECT_EQ(to_cell(0.1), "0.1");
}

TEST(ToCell, IsEmptyWhereThereIsNoNumber) {
  EXPECT_EQ(to_cell(std::optional<std::int64_t>()), "");
  EXPECT_EQ(to_cell(std::optional<bool>()), "");
  EXPECT_EQ(to_cell(std::optional<bool>(false)), "false");
  EXPECT_EQ(to_cell(std::optional<std::int64_t>(0)), "0");
  for (const double value : {nan, -nan, infinity, -infinity}) {
    EXPECT_EQ(to_cell(value), "");
    EXPECT_EQ(to_cell(std::optional<double>(value)), "");
  }
}

TEST(ToCell, DoublesReadBackAsTheyWere) {
  for (const double value : {1.0 / 3, 1e-300, 5e-324, 1.7976931348623157e308, 123456789.125, -0.0,
                             3.2e-6, 1e22, 9007199254740993.0}) {
    EXPECT_EQ(std::strtod(to_cell(value).c_str(), nullptr), value) << to_cell(value);
  }
  EXPECT_EQ(to_cell(1.5e-6), "1.5e-06");
}

struct Commas : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(ToCell, HasAPointInEveryLocale) {
  const std::locale before = std::locale::global(std::locale(std::locale(), new Commas));
  std::ostringstream locale_works;
  locale_works << 1.5;
  const std::string fraction = to_cell(12345.5);
  const std::string integer = to_cell(std::int64_t{1234567});
  std::locale::global(before);
  EXPECT_EQ(locale_works.str(), "1,5");
  EXPECT_EQ(fraction, "12345.5");
  EXPECT_EQ(integer, "1234567");
}

template <class T>
T read_cell(std::string_view cell) {
  T field{};
  from_cell(cell, field);
  return field;
}

TEST(FromCell, ReadsBackWhatToCellWrote) {
  const auto same = []<class T>(const T& value) {
    EXPECT_EQ(read_cell<T>(to_cell(value)), value) << to_cell(value);
  };
  for (const double value : {0.0, 1.0 / 3, 5e-324, -1.7976931348623157e308, 1e22, 3.2e-6}) {
    same(value);
    same(std::optional(value));
  }
  EXPECT_TRUE(std::signbit(read_cell<double>(to_cell(-0.0))));
  for (const auto value :
       {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    same(value);
  }
  same(std::numeric_limits<std::uint64_t>::max());
  same(true);
  same(std::optional(false));
  same(std::optional<bool>());
  same(std::optional<std::int64_t>());
  same(std::string("a, \"b\"\n…"));
  for (const Status status : all_statuses()) same(status);
}

TEST(FromCell, RefusesWhatIsNoSuchValue) {
  for (const char* cell : {"", " 1", "1 ", "x", "0x1p3", "1,5", "+1", "nan", "NaN", "-nan", "inf",
                           "-infinity", "1e999", "1e", "--1"}) {
    EXPECT_THROW(read_cell<double>(cell), UsageError) << cell;
    EXPECT_THROW(read_cell<std::int64_t>(cell), UsageError) << cell;
    EXPECT_THROW(read_cell<bool>(cell), UsageError) << cell;
    EXPECT_THROW(read_cell<Status>(cell), UsageError) << cell;
    if (*cell != '\0') {
      EXPECT_THROW(read_cell<std::optional<double>>(cell), UsageError) << cell;
    }
  }
  for (const char* cell : {"9223372036854775808", "-9223372036854775809", "1.0", "1e3"}) {
    EXPECT_THROW(read_cell<std::int64_t>(cell), UsageError) << cell;
  }
  for (const char* cell : {"18446744073709551616", "-1"}) {
    EXPECT_THROW(read_cell<std::uint64_t>(cell), UsageError) << cell;
  }
  for (const char* cell : {"True", "1", "0", "yes"}) {
    EXPECT_THROW(read_cell<bool>(cell), UsageError) << cell;
  }
  EXPECT_THROW(read_cell<Status>("Pass"), UsageError);
  EXPECT_THROW(read_cell<std::string>("\xFF"), UsageError);
  EXPECT_THROW(read_cell<std::string>(std::string_view("\0", 1)), UsageError);
}

TEST(FieldCells, FollowTheNames) {
  Record record;
  record.case_id = "copy/f32/n=1";
  record.max_ulp = nan;
  record.status = Status::vacuous;
  record.replay = "again";
  const auto names = field_names<Record>();
  const auto cells = field_cells(record);
  ASSERT_EQ(names.size(), cells.size());
  const auto cell = [&](std::string_view name) {
    return cells.at(
        static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin()));
  };
  EXPECT_EQ(cell("case_id"), "copy/f32/n=1");
  EXPECT_EQ(cell("max_ulp"), "");
  EXPECT_EQ(cell("status"), "vacuous");
  EXPECT_EQ(cell("replay"), "again");
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

}  // namespace
}  // namespace assay
