#include "harness/plan/expected_failures.h"

#include <gtest/gtest.h>

#include <sstream>

#include "kernels/core/status.h"

namespace assay {
namespace {

const std::vector<std::string> backends{"cpu", "cuda"};

ExpectedFailures read(const std::string& rows,
                      const std::string& header = "case,reason,owner,expires,device,status") {
  std::istringstream text(header + "\n" + rows);
  return {text, "known.csv", "2026-11-21", backends};
}

Record failure(const std::string& id, Status status = Status::fail,
               const std::string& device = "cpu") {
  Record record;
  record.case_id = id;
  record.device = device;
  record.status = status;
  return record;
}

TEST(ExpectedFailures, AcceptThatCaseDeviceAndStatusAlone) {
  const auto known = read(
      "tensor_ops/add/f32/n=3,bug 7,ann,2026-12-31,cpu,\n"
      "linear/*,slow,bob,2026-11-21,,timeout\n");
  EXPECT_EQ(known.accept(failure("tensor_ops/add/f32/n=3")), "bug 7 (ann, until 2026-12-31)");
  EXPECT_EQ(known.accept(failure("tensor_ops/add/f32/n=33")), "");
  EXPECT_EQ(known.accept(failure("tensor_ops/add/f32/n=3", Status::crash)), "");
  EXPECT_EQ(known.accept(failure("tensor_ops/add/f32/n=3", Status::fail, "cuda:0")), "");
  EXPECT_EQ(known.accept(failure("linear/f32/batch=2", Status::timeout, "cuda:7")),
            "slow (bob, until 2026-11-21)")
      << "its last day counts";
  EXPECT_EQ(ExpectedFailures().accept(failure("x")), "");
}

TEST(ExpectedFailures, ADeviceIsAPatternToo) {
  const auto known = read("linear/*,bug,ann,2027-01-01,cuda:*,\n");
  EXPECT_NE(known.accept(failure("linear/f32/batch=2", Status::fail, "cuda:7")), "");
  for (const char* other : {"cpu", "cuda:0>cuda:1", "cuda:0+cuda:1"}) {
    EXPECT_EQ(known.accept(failure("linear/f32/batch=2", Status::fail, other)), "") << other;
  }
}

TEST(ExpectedFailures, AnImplementationIsAPatternThatConcernsNoOther) {
  const auto known = read("tensor_ops/add/*,bug,ann,2027-01-01,PyTorch 1.*\n",
                          "case,reason,owner,expires,implementation");
  Record old = failure("tensor_ops/add/f32/n=3");
  Record current = old;
  old.implementation = "PyTorch 1.13.0a0 1 thread";
  current.implementation = "PyTorch 2.15.0 1 thread";
  EXPECT_NE(known.accept(old), "");
  EXPECT_EQ(known.accept(current), "");
  EXPECT_EQ(known.accept(failure("tensor_ops/add/f32/n=3")), "") << "a crash before it was known";

  current.status = Status::pass;
  EXPECT_TRUE(known.notes({current}).empty());
  old.status = Status::pass;
  EXPECT_EQ(known.notes({old}).size(), 1U);
}

TEST(ExpectedFailures, AnExpiredEntryAcceptsNothingAndIsNamed) {
  const auto known = read("tensor_ops/add/*,bug,ann,2026-11-20,,\n");
  const Record failed = failure("tensor_ops/add/f32/n=3");
  EXPECT_EQ(known.accept(failed), "");
  const auto notes = known.notes({failed});
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0],
            "known.csv:2: tensor_ops/add/*: no longer accepted: the entry of ann expired on "
            "2026-11-20");
}

TEST(ExpectedFailures, AnUnexpectedPassIsReportedAndAMixtureIsNot) {
  const auto known = read("tensor_ops/add/*,bug,ann,2027-01-01,,\n");
  const Record failed = failure("tensor_ops/add/f32/n=3");
  const Record passed = failure("tensor_ops/add/f32/n=4", Status::pass);
  EXPECT_EQ(known.notes({passed}).size(), 1U);
  EXPECT_TRUE(known.notes({passed, failed}).empty());
  EXPECT_TRUE(known.notes({failure("tensor_ops/exp/f32/n=4", Status::pass)}).empty());
}

TEST(ExpectedFailures, APatternThatMatchesNoCaseIsNamed) {
  const auto known = read("tensor_ops/add/*,r,o,2027-01-01,,\ntensor_ops/ad/*,r,o,2027-01-01,,\n");
  const std::vector<std::string> cases{"tensor_ops/add/f32/n=3"};
  EXPECT_EQ(known.without_case(cases),
            std::vector<std::string>{"known.csv:3: tensor_ops/ad/*: no case matches"});
}

TEST(ExpectedFailures, ADeviceIsOneOrSeveralOfKnownKinds) {
  for (const char* device : {"", "cpu", "cuda:3", "cuda:*", "cuda:0>cuda:1", "cpu+cuda:0"}) {
    EXPECT_NO_THROW(read(std::string("a/*,r,o,2027-01-01,") + device + ",\n")) << device;
  }
  for (const char* device : {" ", "cuda", "*", "cuda:x", "gpu:0", "CPU", "cpu+", "GPU-1234"}) {
    try {
      read(std::string("a/*,r,o,2027-01-01,") + device + ",\n");
      ADD_FAILURE() << device;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what())
                    .find("2:20: device: '" + std::string(device) +
                          "' is no device; expected one of cpu, cuda"),
                std::string::npos)
          << error.what();
    }
  }
}

TEST(ExpectedFailures, WithoutOwnerReasonOrEndThereIsNone) {
  const auto refused = [](const std::string& rows,
                          const std::string& header = "case,reason,owner,expires,device,status") {
    try {
      read(rows, header);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  EXPECT_EQ(refused("a/*,,o,2027-01-01,,\n"), "known.csv:2:5: reason: must not be empty");
  EXPECT_EQ(refused("a/*,r,,2027-01-01,,\n"), "known.csv:2:7: owner: must not be empty");
  EXPECT_EQ(refused("a/*, \t,o,2027-01-01,,\n"), "known.csv:2:5: reason: must not be empty");
  EXPECT_EQ(refused("a/*,r, ,2027-01-01,,\n"), "known.csv:2:7: owner: must not be empty");
  EXPECT_NE(refused("a/*,r,o,,,\n").find("expires: must not be empty"), std::string::npos);
  for (const char* date : {"never", "2027-13-01", "2027-02-29", "2027-1-1", "2027-01-01x", "1/1/27",
                           "2099-+1-01", "2099-01- 1", "+999-01-01"}) {
    EXPECT_NE(refused(std::string("a/*,r,o,") + date + ",,\n").find("YYYY-MM-DD"),
              std::string::npos)
        << date;
  }
  EXPECT_NE(refused("tensor_ops/ad/f32/n=3,r,o,2027-01-01,,\n").find("2:1: case:"),
            std::string::npos)
      << "a misspelt case would silently accept nothing";
  EXPECT_NE(refused("a/*,r,o,2027-01-01,,skip\n").find("no failure"), std::string::npos);
  EXPECT_NE(refused("a/*,r,o\n").find("3 fields"), std::string::npos);
  EXPECT_NE(refused("", "case,reason,owner").find("'expires'"), std::string::npos);
  EXPECT_NE(refused("", "case,reason,owner,expires,onwer").find("did you mean"), std::string::npos);
  EXPECT_NE(refused("", "case,reason,owner,expires,case").find("twice"), std::string::npos);
}

}  // namespace
}  // namespace assay
