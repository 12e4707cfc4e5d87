#include "emulator/ptx/link.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "emulator/ptx/error.h"
#include "emulator/ptx/module.h"
#include "emulator/ptx/source_lines.h"

// PTX ISA, "Linking Directives".
namespace emulator::ptx {
namespace {

const std::string header = ".version 9.0\n.target sm_75\n.address_size 64\n";

TEST(Link, LeavesOneModuleAsItIs) { EXPECT_EQ(link({header}), header); }

TEST(Link, FindsDefinitionsOfOthers) {
  const Module linked(
      link(
          {header + ".extern .global .u32 x;\n.extern .func f();\n.visible .entry k() { call f; }",
           ".version 9.0\n.target sm_90\n.visible .global .u32 x = 3;\n.visible .func f() { ret; }",
           header + ".extern .global .u32 x;\n.extern .func f();\n"}),
      "linked");
  EXPECT_FALSE(linked.variable("x")->is_extern);
  EXPECT_TRUE(linked.function("f")->has_body);
  EXPECT_EQ(linked.target, 90);
  EXPECT_TRUE(linked.function("k")->is_entry);
}

TEST(Link, KeepsApartWhatOneModuleKnows) {
  const std::string first = header + ".global .u32 x = 1;\n.func f() { ld.global.u32 %r1, [x]; }";
  const std::string second =
      header + ".global .u32 x = 2;\n.global .u32 y;\n.func f() { ld.global.u32 %r1, [x+4]; }";
  const Module linked(link({first, second}), "linked");
  ASSERT_EQ(linked.variables.size(), 3U);
  ASSERT_EQ(linked.functions.size(), 2U);
  EXPECT_NE(linked.variable("y"), nullptr);  // nobody else's name
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string name(linked.variables[i].name);
    EXPECT_EQ(linked.variables[i].initial[0].bits, i + 1);
    EXPECT_NE(linked.functions[i].body.find("[" + name), std::string_view::npos)
        << linked.functions[i].body;
  }
  EXPECT_NE(linked.variables[0].name, linked.variables[1].name);
}

TEST(Link, LeavesOneOfWeakDefinitions) {
  const std::string weak =
      header + ".weak .global .u32 x = 1;\n.weak .func f() { mov.u32 %r1, 1; }";
  const std::string other =
      header + ".weak .global .u32 x = 2;\n.weak .func f() { mov.u32 %r1, 2; }";
  const std::string strong =
      header + ".visible .global .u32 x = 3;\n.visible .func f() { mov.u32 %r1, 3; }";
  const Module first(link({weak, other}), "linked");
  EXPECT_EQ(first.variable("x")->initial[0].bits, 1U);
  EXPECT_NE(first.function("f")->body.find("1;"), std::string_view::npos);
  for (const auto& modules : {std::vector<std::string_view>{weak, strong, other},
                              std::vector<std::string_view>{strong, weak}}) {
    const Module linked(link(modules), "linked");
    EXPECT_EQ(linked.variable("x")->initial[0].bits, 3U);
    EXPECT_EQ(std::ranges::count(linked.variables, false, &Variable::is_extern), 1);
    EXPECT_NE(linked.function("f")->body.find("3;"), std::string_view::npos);
  }
}

TEST(Link, RefusesTwoStrongDefinitions) {
  const std::string module = header + ".visible .global .u32 twice = 3;\n";
  try {
    link({module, module});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'twice'"), std::string::npos) << error.what();
  }
}

TEST(Link, KeepsTheLinesOfEachSource) {
  const auto module = [](const std::string& name) {
    return header + ".visible .func " + name + "() {\n.loc 1 7 3\n.loc 2 5 3, function_name $L, " +
           "inlined_at 1 8 4\nret;\n}\n.file 1 \"" + name + ".cu\"\n.file 2 \"" + name + ".h\"\n";
  };
  const std::string linked = link({module("a"), module("b")});
  const auto line_of = [&](std::string_view what, std::size_t from) {
    return static_cast<int>(
        std::count(linked.begin(),
                   linked.begin() + static_cast<std::ptrdiff_t>(linked.find(what, from)), '\n') +
        1);
  };
  const std::size_t second = linked.find("b()");
  EXPECT_EQ(text_of(source_lines(linked, line_of("ret;", 0))), "a.h:5, inlined at a.cu:8");
  EXPECT_EQ(text_of(source_lines(linked, line_of("ret;", second))), "b.h:5, inlined at b.cu:8");
}

}  // namespace
}  // namespace emulator::ptx
