#include "harness/records/json_text.h"

#include <gtest/gtest.h>

#include "kernels/core/status.h"
#include "tests/unit/reports_support.h"

namespace assay {
namespace {

using testing_support::message_of;

std::string refusal(const std::string& text) {
  return message_of<UsageError>([&] { parse_json(text); });
}

std::string nested(int depth, const std::string& open, const std::string& close) {
  std::string text;
  for (int i = 0; i < depth; ++i) text += open;
  text += "1";
  for (int i = 0; i < depth; ++i) text += close;
  return text;
}

TEST(JsonText, HasALimitOfDepth) {
  EXPECT_NO_THROW(parse_json(nested(max_json_depth, "[", "]")));
  EXPECT_NO_THROW(parse_json(nested(max_json_depth, "{\"a\":", "}")));
  for (const int depth : {max_json_depth + 1, 60'000}) {
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, "nested more than 64 deep",
                        refusal(nested(depth, "[", "]")));
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, "nested more than 64 deep",
                        refusal(nested(depth, "{\"a\":", "}")));
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, "nested more than 64 deep",
                        refusal(nested(depth, "[", "")));
  }
}

TEST(JsonText, DamageIsNamedInPlainWords) {
  EXPECT_EQ(refusal("{\n  \"a\": 1,\n  b\n}"), "line 3, column 3: not JSON");
  EXPECT_EQ(refusal("x"), "line 1, column 1: not JSON");
  EXPECT_EQ(refusal("{} {}"), "line 1, column 4: not JSON");
  EXPECT_EQ(refusal("{\"a\": \"\xFF\"}"), "line 1, column 8: not JSON");
  for (const char* text : {"", "{", "{\"a\": [1, 2", "{\"a\": \"b"}) {
    EXPECT_EQ(refusal(text), "the JSON is cut off: its end is missing") << text;
  }
  EXPECT_EQ(refusal("[1e999]"), "the JSON has a number that is out of range");
}

TEST(JsonObject, ReadsWhatIsThere) {
  const auto json =
      parse_json(R"({"t": "a", "n": -3, "r": 0.5, "b": true, "l": ["x"], "no": null})");
  const JsonObject object(json);
  std::string text;
  std::int64_t number = 0;
  double real = 0;
  bool flag = false;
  std::vector<std::string> list;
  object.need("t", text);
  object.need("n", number);
  object.need("r", real);
  object.need("b", flag);
  object.need("l", list);
  EXPECT_EQ(text, "a");
  EXPECT_EQ(number, -3);
  EXPECT_EQ(real, 0.5);
  EXPECT_TRUE(flag);
  EXPECT_EQ(list, std::vector<std::string>{"x"});
  object.get("no", text);
  object.get("absent", text);
  EXPECT_EQ(text, "a") << "stays";
}

TEST(JsonObject, NamesTheKeyThatIsMissingOrOfAnotherKind) {
  EXPECT_EQ(message_of<UsageError>([] { JsonObject(parse_json("[1]")); }),
            "the JSON must be an object");
  const auto json = parse_json(R"({"a": [1], "no": null, "big": 1e30, "minus": -1})");
  const JsonObject object(json);
  const auto refused = [&](const char* key, auto field) {
    return message_of<UsageError>([&] { object.need(key, field); });
  };
  EXPECT_EQ(refused("absent", std::string()), "'absent' is missing");
  EXPECT_EQ(refused("no", std::string()), "'no' is missing");
  EXPECT_EQ(refused("a", std::string()), "'a' must be text");
  EXPECT_EQ(refused("a", false), "'a' must be true or false");
  EXPECT_EQ(refused("a", 0.0), "'a' must be a number");
  EXPECT_EQ(refused("a", std::vector<std::string>()), "'a' must be a list of texts");
  EXPECT_TRUE(refused("big", 0).starts_with("'big': not a whole number from "));
  EXPECT_TRUE(refused("minus", std::uint64_t{}).starts_with("'minus': not a whole number from 0"));
}

}  // namespace
}  // namespace assay
