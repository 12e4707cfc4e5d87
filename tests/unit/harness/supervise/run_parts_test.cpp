// Smaller parts of a run: locks, shared references, memory growth, kills by the kernel.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "harness/execute/reference_store.h"
#include "harness/supervise/device_lock.h"
#include "harness/supervise/leak_monitor.h"
#include "harness/supervise/oom_watch.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

class Folder : public testing::Test {
 protected:
  Folder() {
    std::string name = testing::TempDir() + "/assay-parts-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~Folder() override { fs::remove_all(path_); }
  fs::path path_;
};

class DeviceLocks : public Folder {
 protected:
  DeviceLock lock(
      const std::string& uuid, bool wait = false,
      const std::function<bool()>& interrupted = [] { return false; }) {
    return {path_ / "locks", uuid, wait, interrupted, [&](const std::string&) { ++said_; }};
  }
  std::string refusal(const std::string& uuid) {
    try {
      lock(uuid);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "taken";
  }
  unsigned mode_of(const char* name) const {
    return static_cast<unsigned>(fs::status(path_ / name).permissions());
  }
  int said_ = 0;
};

TEST_F(DeviceLocks, OneHolderForEachDevice) {
  const DeviceLock held = lock("GPU-a");
  EXPECT_THROW(lock("GPU-a"), DeviceBusy);
  EXPECT_NO_THROW(lock("GPU-b"));
  try {
    lock("GPU-a");
  } catch (const DeviceBusy& busy) {
    EXPECT_NE(std::string(busy.what()).find("process " + std::to_string(getpid())),
              std::string::npos)
        << busy.what();
  }
}

TEST_F(DeviceLocks, IsReleasedWithItsHolder) {
  { const DeviceLock held = lock("GPU-a"); }
  const DeviceLock again = lock("GPU-a");
  const pid_t child = fork();
  if (child == 0) {
    const DeviceLock other(path_ / "locks", "GPU-b", false, [] { return false; }, {});
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  EXPECT_NO_THROW(lock("GPU-b"));
}

TEST_F(DeviceLocks, WaitingSaysSoOnceAndCanBeInterrupted) {
  const DeviceLock held = lock("GPU-a");
  int asked = 0;
  EXPECT_THROW(lock("GPU-a", true, [&] { return ++asked > 3; }), DeviceBusy);
  EXPECT_EQ(said_, 1);
}

TEST_F(DeviceLocks, WithoutALockFileThereIsNoRun) {
  fs::create_directory(path_ / "locks");
  fs::create_symlink(path_ / "elsewhere", path_ / "locks" / "GPU-a");
  EXPECT_THROW(lock("GPU-a"), std::system_error) << "a planted link";
  EXPECT_THROW(DeviceLock("/proc/nowhere", "GPU-a", false, [] { return false; }, {}),
               std::system_error);
}

TEST_F(DeviceLocks, TheFolderIsEverybodysAndSticky) {
  lock("GPU-a");
  EXPECT_EQ(mode_of("locks"), 01777);
  chmod((path_ / "locks").c_str(), 0777);  // an earlier version made it so
  lock("GPU-a");
  EXPECT_EQ(mode_of("locks"), 01777);
  chmod((path_ / "locks").c_str(), 0700);
  lock("GPU-a");
  EXPECT_EQ(mode_of("locks"), 0700) << "its owner's alone, as he wants it";
}

TEST_F(DeviceLocks, AFolderInWhichOthersCouldRemoveALockIsRefused) {
  lock("GPU-a");
  chmod((path_ / "locks").c_str(), 0777);
  if (chown((path_ / "locks").c_str(), 65534, 65534) != 0) GTEST_SKIP() << "only root gives away";
  EXPECT_NE(refusal("GPU-a").find("user 65534, whose folder it is, has to 'chmod +t' it"),
            std::string::npos)
      << refusal("GPU-a");
}

TEST_F(DeviceLocks, OnlyRegularFilesOfOneNameAreOpened) {
  fs::create_directory(path_ / "elsewhere");
  fs::create_directory_symlink(path_ / "elsewhere", path_ / "locks");
  EXPECT_NE(refusal("GPU-a").find("it is a link"), std::string::npos) << refusal("GPU-a");
  fs::remove(path_ / "locks");
  fs::create_directory(path_ / "locks");
  ASSERT_EQ(mkfifo((path_ / "locks/GPU-a").c_str(), 0600), 0);
  EXPECT_NE(refusal("GPU-a").find("no regular file"), std::string::npos) << refusal("GPU-a");
  std::ofstream(path_ / "mine") << "precious";
  fs::create_hard_link(path_ / "mine", path_ / "locks/GPU-b");
  EXPECT_NE(refusal("GPU-b").find("another name"), std::string::npos) << refusal("GPU-b");
  EXPECT_EQ(fs::file_size(path_ / "mine"), 8U);
}

TEST_F(DeviceLocks, WhatOthersWroteIntoALockIsNotShown) {
  const DeviceLock held = lock("GPU-a");
  for (const char* text : {"\x1b[2J", "\n::error::x", "12 13", "-1", ""}) {
    std::ofstream(path_ / "locks/GPU-a") << text;
    EXPECT_NE(refusal("GPU-a").find("held by another run (another process)"), std::string::npos)
        << refusal("GPU-a");
  }
}

class References : public Folder {
 protected:
  std::vector<double> get(ReferenceStore& store, const std::string& key, double value) {
    const auto state = store.get(key, [&] { return reference::State{value, 2}; });
    return {state->values().begin(), state->values().end()};
  }
  fs::path file() const {
    for (const auto& entry : fs::directory_iterator(path_)) {
      if (entry.path().extension() != ".lock") return entry.path();
    }
    return {};
  }
};

TEST_F(References, AreComputedOnceAndShared) {
  ReferenceStore first(path_);
  ReferenceStore second(path_);
  EXPECT_EQ(get(first, "a", 1), (std::vector<double>{1, 2}));
  EXPECT_EQ(get(second, "a", 7), (std::vector<double>{1, 2})) << "not computed again";
  EXPECT_EQ(get(second, "b", 7), (std::vector<double>{7, 2}));
  const ReferenceCount count = second.take_count();
  EXPECT_EQ(count.computed, 1);
  EXPECT_EQ(count.shared, 1);
  EXPECT_EQ(second.take_count().computed, 0);
}

TEST_F(References, WithoutAFolderNothingIsShared) {
  ReferenceStore store("");
  EXPECT_EQ(get(store, "a", 1)[0], 1);
  EXPECT_EQ(get(store, "a", 7)[0], 7);
  EXPECT_EQ(store.take_count().computed, 2);
}

TEST_F(References, ATornOrChangedFileIsNotUsed) {
  ReferenceStore store(path_);
  get(store, "key", 1);
  const fs::path path = file();
  const auto size = fs::file_size(path);
  for (const std::uintmax_t offset :
       {std::uintmax_t{0}, std::uintmax_t{16}, std::uintmax_t{33}, size - 16, size - 1}) {
    std::fstream bytes(path, std::ios::binary | std::ios::in | std::ios::out);
    bytes.seekg(static_cast<std::streamoff>(offset));
    const char changed = static_cast<char>(bytes.get() ^ 1);
    bytes.seekp(static_cast<std::streamoff>(offset));
    bytes.put(changed);
    bytes.close();
    EXPECT_EQ(get(store, "key", 5)[0], 5) << "byte " << offset;
  }
  fs::resize_file(path, size - 8);
  EXPECT_EQ(get(store, "key", 6)[0], 6);
  fs::resize_file(path, 3);
  EXPECT_EQ(get(store, "key", 7)[0], 7);
  EXPECT_EQ(get(store, "key", 8)[0], 7) << "and is made whole again";
}

TEST_F(References, AnotherKeyInItsFileIsNotUsed) {
  ReferenceStore store(path_);
  get(store, "key 1", 1);
  const fs::path one = file();
  fs::rename(one, path_ / "kept");
  get(store, "key 2", 2);
  for (const auto& entry : fs::directory_iterator(path_)) {
    if (entry.path().extension() != ".lock" && entry.path().filename() != "kept") {
      fs::copy_file(path_ / "kept", entry.path(), fs::copy_options::overwrite_existing);
    }
  }
  EXPECT_EQ(get(store, "key 2", 9)[0], 9);
}

TEST(GrowthSlope, IsThatOfTheSecondHalf) {
  std::vector<LeakMonitor::Point> points;
  for (int i = 0; i < 100; ++i) {
    const double warm_up = i < 50 ? i * 1e6 : 5e7;
    points.push_back({i * 10, warm_up + i * 20.0, 7.0 + (i < 50 ? 0 : i)});
  }
  const LeakMonitor::Slope slope = LeakMonitor::slope(points);
  EXPECT_NEAR(slope.bytes_per_1000_trials, 2000, 1e-6);
  EXPECT_NEAR(slope.files_per_1000_trials, 100, 1e-9);
  EXPECT_EQ(slope.trials, 490);
  EXPECT_EQ(LeakMonitor::slope({}).trials, 0);
}

TEST(GrowthOfThisProcess, ALeakShows) {
  LeakMonitor growth;
  EXPECT_EQ(growth.text(), "");
  // Pages of its own, and many: what tests before it gave back to the allocator, or what that gives
  // back to the system meanwhile, must not hide the leak.
  constexpr std::size_t trials = 3000;
  constexpr std::size_t bytes = 128 << 10;
  void* const leak =
      mmap(nullptr, trials * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(leak, MAP_FAILED);
  for (std::size_t i = 0; i < trials; ++i) {
    std::memset(static_cast<char*>(leak) + i * bytes, 'x', bytes);
    growth.sample({});
  }
  munmap(leak, trials * bytes);
  EXPECT_GT(growth.parent().bytes_per_1000_trials, 4e6);
  EXPECT_NE(growth.text().find("parent +"), std::string::npos) << growth.text();
}

TEST(GrowthOfAWorker, IncludesTheProcessThatItStarted) {
  // A worker that waits, and beside it a process that leaks.
  int ends[2] = {-1, -1};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  constexpr int trials = 400;
  constexpr std::size_t bytes = 64 << 10;
  const pid_t worker = fork();
  if (worker == 0) {
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (char trial = 0; read(ends[1], &trial, 1) == 1;) {
        void* const leak = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (leak == MAP_FAILED || write(ends[1], &trial, 1) != 1) break;
      }
      _exit(0);
    }
    for (;;) pause();
  }
  close(ends[1]);
  LeakMonitor growth;
  for (int i = 0; i < trials; ++i) {
    char trial = 'x';
    ASSERT_EQ(write(ends[0], &trial, 1), 1);
    ASSERT_EQ(read(ends[0], &trial, 1), 1);
    growth.sample({&worker, 1});
  }
  close(ends[0]);
  kill(worker, SIGKILL);
  waitpid(worker, nullptr, 0);
  EXPECT_GT(growth.steepest_worker().bytes_per_1000_trials, 1e6);
}

TEST(OomWatch, ReadsTheKernelsCount) {
  EXPECT_EQ(OomWatch::count_in("nr_free 3\noom_kill 12\nswap 1\n"), 12);
  EXPECT_EQ(OomWatch::count_in("low 0\noom 4\noom_kill 2\noom_group_kill 9\n"), 2);
  EXPECT_EQ(OomWatch::count_in("not_oom_kill 5\n"), std::nullopt);
  EXPECT_EQ(OomWatch::count_in("oom_kill x"), std::nullopt);
  EXPECT_EQ(OomWatch::count_in(""), std::nullopt);
  OomWatch watch;
  watch.begin();
  EXPECT_FALSE(watch.happened());
}

}  // namespace
}  // namespace assay
