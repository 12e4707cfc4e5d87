// Processes that time work together: what each does with the answers of the others.
#include "kernels/device/held_work.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "kernels/core/status.h"

namespace assay {
namespace {

/// Where two threads that stand for processes meet.
class Table {
 public:
  unsigned agree(unsigned own) {
    std::unique_lock lock(mutex_);
    if (arrived_++ % 2 == 0) {
      bits_ = own;
      const int meeting = met_;
      changed_.wait(lock, [&] { return met_ != meeting; });
      return agreed_;
    }
    agreed_ = bits_ & own;
    ++met_;
    changed_.notify_all();
    return agreed_;
  }
  int meetings() const { return met_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned bits_ = 0;
  unsigned agreed_ = 0;
  int arrived_ = 0;
  int met_ = 0;
};

class Seat final : public Meeting {
 public:
  explicit Seat(Table& table) : table_(table) {}
  unsigned agree(unsigned own) override { return table_.agree(own); }

 private:
  Table& table_;
};

/// What a process can do, and what it did.
struct Process {
  bool can_block = true;
  bool has_graphs = true;
  bool may_wait = false;
  bool may_stray = false;
  std::string fails_at;  // "flush", "launch"
  std::string did = {};
  bool has_lapsed = false;

  void note(const std::string& word) {
    if (word == fails_at) throw DeviceError(Failure::internal, word);
    did += (did.empty() ? "" : " ") + word;
  }
};

class NotedKernel final : public Kernel {
 public:
  NotedKernel(Process& process, std::string word) : process_(process), word_(std::move(word)) {}
  void launch() override { process_.note(word_); }
  std::string implementation() const override { return {}; }
  bool may_wait() const override { return process_.may_wait; }
  bool may_stray() const override { return process_.may_stray; }

 private:
  Process& process_;
  std::string word_;
};

/// Work during whose enqueueing the blocking ends by itself.
class LapsingKernel final : public Kernel {
 public:
  explicit LapsingKernel(Process& process) : process_(process) {}
  void launch() override { process_.has_lapsed = lapses; }
  std::string implementation() const override { return {}; }
  bool lapses = false;

 private:
  Process& process_;
};

class NotedStream final : public Stream {
 public:
  explicit NotedStream(Process& process) : process_(process) {}
  std::unique_ptr<Event> create_event() override { return std::make_unique<Event>(); }
  void record(Event&) override {
    if (process_.may_stray) process_.note("event");
  }
  void await_all() override { process_.note("all"); }
  double elapsed_s(const Event&, const Event&) override { return 1; }
  void synchronize() override { process_.note("wait"); }
  void flush_caches() override { process_.note("flush"); }
  bool block() override {
    if (process_.can_block) process_.note("block");
    return process_.can_block;
  }
  void unblock() override { process_.note("unblock"); }
  bool take_lapse() override { return std::exchange(process_.has_lapsed, false); }
  std::unique_ptr<Kernel> as_graph(Kernel&, std::int64_t, std::span<Stream* const>) override {
    if (!process_.has_graphs) return nullptr;
    return std::make_unique<NotedKernel>(process_, "graph");
  }

 private:
  Process& process_;
};

TEST(HeldWork, IsVoidIfItsBlockingLapsedAndNotIfThatOfEarlierWorkDid) {
  Process process;
  NotedStream stream(process);
  LapsingKernel kernel(process);
  Stream* streams[] = {&stream};
  HeldWork work(streams, {{&kernel}});
  process.has_lapsed = true;
  work.time_s(1, false, 0);
  EXPECT_FALSE(work.was_void()) << "of earlier work";
  kernel.lapses = true;
  work.time_s(1, false, 0);
  EXPECT_TRUE(work.was_void());
  kernel.lapses = false;
  work.time_s(1, false, 0);
  EXPECT_FALSE(work.was_void()) << "a lapse counts once";
}

TEST(HeldWork, IsBlockedNoMoreAfterThreeVoidsInARow) {
  Process process;
  NotedStream stream(process);
  LapsingKernel kernel(process);
  Stream* streams[] = {&stream};
  HeldWork work(streams, {{&kernel}});
  for (const bool lapses : {true, true, false, true, true, true}) {
    EXPECT_TRUE(process.did.ends_with("unblock") || process.did.empty()) << process.did;
    process.did.clear();
    kernel.lapses = lapses;
    work.time_s(1, false, 0);
  }
  EXPECT_EQ(process.did, "block unblock");
  process.did.clear();
  work.time_s(1, false, 0);
  EXPECT_EQ(process.did, "");
}

/// Times `launches` launches in two processes at once. Returns how often they met.
int time_together(Process& a, Process& b, std::int64_t launches, bool cold = false) {
  Table table;
  const auto run = [&](Process& process) {
    NotedStream stream(process);
    NotedKernel kernel(process, "launch");
    Stream* streams[] = {&stream};
    HeldWork work(streams, {{&kernel}}, std::make_unique<Seat>(table));
    try {
      work.time_s(launches, cold, 0);
    } catch (const DeviceError&) {
      process.did += " thrown";
    }
  };
  std::thread other(run, std::ref(b));
  run(a);
  other.join();
  return table.meetings();
}

TEST(HeldWork, OfAllProcessesIsEnqueuedBeforeAnyIsReleased) {
  Process a, b;
  EXPECT_EQ(time_together(a, b, 2), 2);
  EXPECT_EQ(a.did, "block graph unblock");
  EXPECT_EQ(b.did, a.did);
}

TEST(HeldWork, TakesSetsInTurns) {
  Process process{.can_block = false, .has_graphs = true};
  NotedStream stream(process);
  NotedKernel a(process, "a"), b(process, "b"), c(process, "c");
  Stream* streams[] = {&stream};
  HeldWork work(streams, {{&a}, {&b}, {&c}});
  work.time_s(1, false, 2);
  work.time_s(2, false, 2);
  EXPECT_EQ(process.did, "c c a");
  process.did.clear();
  work.time_s(6, false, 0);
  EXPECT_EQ(process.did, "graph") << "of whole rounds";
  process.did.clear();
  work.time_s(4, false, 1);
  EXPECT_EQ(process.did, "b c a b") << "a graph would always begin with the first";
}

// The time of kernels of others ends with all that they started, on whatever stream.
TEST(HeldWork, OfAKernelThatMayStrayEndsBehindAllWork) {
  Process process{.can_block = false, .has_graphs = false, .may_stray = true};
  NotedStream stream(process);
  NotedKernel kernel(process, "launch");
  Stream* streams[] = {&stream};
  HeldWork work(streams, {{&kernel}});
  work.time_s(2, false, 0);
  EXPECT_EQ(process.did, "event launch launch all event");
}

TEST(HeldWork, IsALoopForAllIfOneHasNoGraph) {
  Process a, b{.has_graphs = false};
  time_together(a, b, 2);
  EXPECT_EQ(a.did, "block launch launch unblock");
  EXPECT_EQ(b.did, a.did);
}

TEST(HeldWork, IsNotHeldIfOneCannotBe) {
  Process a, b{.can_block = false, .has_graphs = false};
  EXPECT_EQ(time_together(a, b, 2), 1);
  EXPECT_EQ(a.did, "block unblock launch launch");
  EXPECT_EQ(b.did, "launch launch");
}

TEST(HeldWork, ThatMayWaitHoldsNobody) {
  Process a, b{.has_graphs = false, .may_wait = true};
  time_together(a, b, 1);
  EXPECT_EQ(a.did, "block unblock launch");
  EXPECT_EQ(b.did, "launch");
}

TEST(HeldWork, BeginsWhenAllHaveFlushed) {
  Process a{.can_block = false}, b;
  EXPECT_EQ(time_together(a, b, 1, true), 2);
  EXPECT_EQ(a.did, "flush wait launch");
  EXPECT_EQ(b.did, "flush block unblock wait launch");
}

TEST(HeldWork, IsTakenInTheSamePartsByAll) {
  Process a, b{.has_graphs = false};
  EXPECT_EQ(time_together(a, b, 40), 4) << "two parts";
  EXPECT_EQ(a.did, b.did);
}

TEST(HeldWork, IsNotLaunchedIfAnotherProcessFailedBefore) {
  Process a, b{.fails_at = "flush"};
  EXPECT_EQ(time_together(a, b, 2, true), 1);
  EXPECT_EQ(a.did, "flush block unblock");
  EXPECT_EQ(b.did, " thrown");
}

TEST(HeldWork, IsReleasedIfAnotherProcessFailsToLaunch) {
  Process a, b{.has_graphs = false, .fails_at = "launch"};
  EXPECT_EQ(time_together(a, b, 2), 2);
  EXPECT_EQ(a.did, "block launch launch unblock");
  EXPECT_EQ(b.did, "block unblock thrown");
}

TEST(HeldWork, ThatIsDeclinedIsLaunchedByNobody) {
  Process a;
  Table table;
  std::thread other([&] { table.agree(0); });
  NotedStream stream(a);
  NotedKernel kernel(a, "launch");
  Stream* streams[] = {&stream};
  HeldWork work(streams, {{&kernel}}, std::make_unique<Seat>(table));
  EXPECT_EQ(work.time_s(2, false, 0), std::vector<double>{0});
  other.join();
  EXPECT_EQ(a.did, "block unblock");
}

}  // namespace
}  // namespace assay
