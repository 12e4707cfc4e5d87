#include "emulator/tests/opcodes/table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <sstream>

#include "emulator/tests/device.h"

namespace emulator::test {
namespace {

const std::vector<std::string> operand_names{"%a", "%b", "%c", "%e", "%f"};

using Tuples = std::vector<std::vector<std::uint64_t>>;

std::uintptr_t upload_column(Device& device, const Type& type, const Tuples& tuples,
                             std::size_t column) {
  const auto bytes = static_cast<std::size_t>(type.bytes());
  std::vector<std::byte> packed(tuples.size() * bytes);
  for (std::size_t i = 0; i < tuples.size(); ++i) {
    std::memcpy(packed.data() + i * bytes, &tuples[i][column], bytes);
  }
  return device.upload(packed);
}

std::vector<std::uint64_t> run_row(const Row& row, const Tuples& tuples, bool approximate) {
  Device device;
  Kernels kernels(device, kernel_text(row));
  kernels.settings.approximate = approximate;
  const auto bytes = static_cast<std::size_t>(row.result.bytes());
  const std::uintptr_t out = device.allocate(tuples.size() * bytes);
  std::vector<std::uintptr_t> addresses{out};
  for (std::size_t i = 0; i < row.operands.size(); ++i) {
    addresses.push_back(upload_column(device, row.operands[i], tuples, i));
  }
  std::vector<std::span<const std::byte>> arguments;
  for (const auto& address : addresses) arguments.push_back(std::as_bytes(std::span(&address, 1)));
  const auto blocks = static_cast<unsigned>(tuples.size() / 128);
  kernels.run_packed("test", {.grid = {blocks}, .block = {128}}, arguments);

  const auto packed = device.download<std::byte>(out, tuples.size() * bytes);
  std::vector<std::uint64_t> results(tuples.size());
  for (std::size_t i = 0; i < tuples.size(); ++i) {
    std::memcpy(&results[i], packed.data() + i * bytes, bytes);
  }
  return results;
}

std::string mismatch_text(const Expected& expected, const std::vector<std::uint64_t>& operands,
                          std::uint64_t result) {
  std::ostringstream text;
  text << std::hex << "operands";
  for (const std::uint64_t x : operands) text << " 0x" << x;
  text << ": got 0x" << result << ", expected " << expected.text();
  return text.str();
}

std::size_t check_row(const Row& row, bool approximate) {
  const auto tuples = operand_tuples(row.operands, 42);
  const auto results = run_row(row, tuples, approximate);
  int mismatches = 0;
  for (std::size_t i = 0; i < tuples.size(); ++i) {
    const Expected expected = row.reference(tuples[i]);
    if (expected.allows(row.result, results[i])) continue;
    if (++mismatches <= 4) ADD_FAILURE() << mismatch_text(expected, tuples[i], results[i]);
  }
  EXPECT_EQ(mismatches, 0) << "of " << tuples.size();
  return tuples.size();
}

}  // namespace

Expected Expected::nan() {
  Expected expected(0);
  expected.any_nan = true;
  return expected;
}

Expected Expected::anything() {
  Expected expected(0);
  expected.any = true;
  return expected;
}

Expected Expected::either(std::uint64_t x, std::uint64_t y) {
  Expected expected(x);
  expected.alternative = y;
  return expected;
}

Expected Expected::within(long double value, long double absolute, long double relative) {
  Expected expected(0);
  expected.is_bound = true;
  expected.value = value;
  expected.absolute = absolute;
  expected.relative = relative;
  return expected;
}

bool Expected::allows(const Type& type, std::uint64_t result) const {
  if (any) return true;
  if (any_nan) return type.format().is_nan(result);
  if (is_bound) {
    const long double x = to_long_double(type.format(), result);
    if (std::isinf(value)) return x == value;
    // Values near the end of the range may overflow.
    if (std::isinf(x)) {
      return std::fabs(value) * (1 + relative) + absolute >= 0x1.fffffep127L && x * value > 0;
    }
    return std::fabs(x - value) <= absolute + relative * std::fabs(value);
  }
  return result == (bits & type.mask()) || result == (alternative & type.mask());
}

std::string Expected::text() const {
  std::ostringstream text;
  if (any_nan) return "a NaN";
  if (is_bound) {
    text << value << " within " << absolute << " and " << relative << " of it";
    return text.str();
  }
  text << std::hex << "0x" << bits;
  if (alternative != bits) text << " or 0x" << alternative;
  return text.str();
}

std::string kernel_text(const Row& row) {
  std::ostringstream text;
  text << ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry test(.param .u64 out";
  for (std::size_t i = 0; i < row.operands.size(); ++i) text << ", .param .u64 in" << i;
  text << ")\n{\n.reg .b32 %index, %block, %width;\n.reg .b64 %base, %offset;\n";
  text << row.result.declaration("%d");
  for (std::size_t i = 0; i < row.operands.size(); ++i) {
    text << row.operands[i].declaration(operand_names[i]);
  }
  text << "mov.u32 %block, %ctaid.x;\nmov.u32 %width, %ntid.x;\nmov.u32 %index, %tid.x;\n"
       << "mad.lo.s32 %index, %block, %width, %index;\n";
  const auto element = [&](const std::string& parameter, const Type& type) {
    text << "ld.param.u64 %base, [" << parameter << "];\nmul.wide.u32 %offset, %index, "
         << type.bytes() << ";\nadd.s64 %base, %base, %offset;\n";
  };
  for (std::size_t i = 0; i < row.operands.size(); ++i) {
    element("in" + std::to_string(i), row.operands[i]);
    text << row.operands[i].load(operand_names[i], "[%base]");
  }
  text << row.ptx << "\n";
  element("out", row.result);
  text << row.result.store("%d", "[%base]") << "ret;\n}\n";
  return text.str();
}

void check(const std::vector<Row>& rows, bool approximate) {
  std::size_t cases = 0, refused = 0;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.ptx);
    try {
      cases += check_row(row, approximate);
    } catch (const Fault& fault) {
      if (row.optional && fault.kind == FaultKind::illegal_instruction) {
        ++refused;
      } else {
        ADD_FAILURE() << fault.what();
      }
    }
  }
  ::testing::Test::RecordProperty("rows", std::to_string(rows.size()));
  ::testing::Test::RecordProperty("refused", std::to_string(refused));
  ::testing::Test::RecordProperty("cases", std::to_string(cases));
}

}  // namespace emulator::test
