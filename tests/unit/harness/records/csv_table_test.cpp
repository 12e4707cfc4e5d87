#include "harness/records/csv_table.h"

#include <gtest/gtest.h>

#include <concepts>
#include <sstream>
#include <type_traits>

namespace assay {
namespace {

struct Animal {
  std::string name;
  std::optional<double> weight_kg;
  int legs = 4;
};

template <class A, class Visitor>
void visit_fields(A& animal,
                  Visitor&& visit) requires std::same_as<std::remove_const_t<A>, Animal> {
  visit("name", animal.name);
  visit("weight_kg", animal.weight_kg);
  visit("legs", animal.legs);
}

std::vector<Animal> read(const std::string& csv, const TableRules& rules = {}) {
  std::istringstream text(csv);
  return read_table<Animal>(text, "t.csv", rules, [](Animal& animal, const TableRow& row) {
    if (animal.legs < 0) throw row.error("legs", "fewer than none");
    if (animal.name == "?") throw row.error("colour", "unknown");
  });
}

std::string refusal_of(const std::string& csv, const TableRules& rules = {}) {
  try {
    read(csv, rules);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "taken";
}

TEST(CsvTable, IsReadBackAsItWasWritten) {
  const std::vector<Animal> written{{"a,b", 0.5, 2}, {"", {}, 0}};
  const std::string text = write_table(written);
  EXPECT_EQ(text, "name,weight_kg,legs\n\"a,b\",0.5,2\n,,0\n");
  const std::vector<Animal> animals = read(text);
  ASSERT_EQ(animals.size(), 2U);
  EXPECT_EQ(animals[0].name, "a,b");
  EXPECT_EQ(animals[0].weight_kg, 0.5);
  EXPECT_EQ(animals[1].weight_kg, std::nullopt);
  EXPECT_EQ(animals[1].legs, 0);
}

TEST(CsvTable, ColumnsMayMoveComeAndGo) {
  const std::vector<Animal> animals = read("legs,colour,name\n8,black,spider\n");
  ASSERT_EQ(animals.size(), 1U);
  EXPECT_EQ(animals[0].name, "spider");
  EXPECT_EQ(animals[0].weight_kg, std::nullopt);
  EXPECT_EQ(animals[0].legs, 8);
  EXPECT_EQ(read("name\nant\n").at(0).legs, 4) << "a field without a column stays";
}

TEST(CsvTable, NamesThePlaceOfEachMistake) {
  EXPECT_EQ(refusal_of(""), "t.csv:1:1: no header");
  EXPECT_EQ(refusal_of("name,legs,name\n"), "t.csv:1:11: column 'name' is there twice");
  EXPECT_EQ(refusal_of("name,legs\nant,6,black\n"), "t.csv:2:7: 3 fields where the header has 2");
  EXPECT_EQ(refusal_of("name,legs\nant,6\nbee,-6\n"), "t.csv:3:5: legs: fewer than none");
  EXPECT_EQ(refusal_of("name,weight_kg\nant,light\n"),
            "t.csv:2:5: weight_kg: must be a finite number, not 'light'");
  EXPECT_EQ(refusal_of("legs,name\n6,?\n"), "t.csv:2:1: colour: unknown");
  EXPECT_EQ(refusal_of("name\n\"x\"y\n"), "t.csv:2:4: text after the closing quote of a field");
}

TEST(CsvTable, HasTheColumnsThatItsRulesDemand) {
  const TableRules rules{.required = {"name", "legs"}, .allowed = field_names<Animal>()};
  EXPECT_EQ(refusal_of("legs,name\n", rules), "taken");
  EXPECT_EQ(refusal_of("name\nant\n", rules), "t.csv:1:1: the header needs a column 'legs'");
  EXPECT_EQ(refusal_of("name\n", rules), "t.csv:1:1: the header needs a column 'legs'")
      << "without rows too";
  EXPECT_TRUE(refusal_of("name,leg\n", rules)
                  .starts_with("t.csv:1:6: unknown column 'leg'; did you mean 'legs'"));
}

TEST(CsvTable, ANewerSchemaIsRefusedBeforeAllElse) {
  const TableRules rules{.required = {"name"}, .newest_schema = 2};
  EXPECT_EQ(refusal_of("name,schema_version\nant,2\n", rules), "taken");
  EXPECT_EQ(refusal_of("name\nant\n", rules), "taken");
  EXPECT_EQ(refusal_of("a,a,schema_version\n,,3,more\n", rules),
            "t.csv:2:3: schema version 3, and this build of assay reads up to 2; read it with a "
            "newer one");
}

}  // namespace
}  // namespace assay
