// Memory of a child process, which the test forks, and a device whose memory it is.
#include "kernels/remote/process_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <new>
#include <numeric>
#include <thread>

#include "kernels/core/status.h"
#include "kernels/cpu/backend.h"
#include "kernels/providers/host.h"
#include "kernels/providers/socket_group.h"
#include "kernels/remote/device.h"
#include "kernels/remote/server.h"

namespace assay::remote {
namespace {

constexpr std::size_t page_bytes = 4096;

/// Pages that a child has a copy of, at the same address.
class Pages {
 public:
  explicit Pages(std::size_t count)
      : bytes_(count * page_bytes),
        data_(static_cast<std::byte*>(
            mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    for (std::size_t i = 0; i < bytes_; ++i) data_[i] = static_cast<std::byte>(i * 7 / 5);
  }
  ~Pages() { munmap(data_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  std::byte* data_;
};

/// A process that does one thing and then waits for its end.
class Child {
 public:
  explicit Child(const std::function<void()>& begin) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(pipe(ends), 0);
    pid_ = fork();
    if (pid_ == 0) {
      begin();
      EXPECT_EQ(write(ends[1], "x", 1), 1);
      for (;;) pause();
    }
    char ready = 0;
    EXPECT_EQ(read(ends[0], &ready, 1), 1);
    close(ends[0]);
    close(ends[1]);
  }
  ~Child() { end(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  pid_t pid() const { return pid_; }
  void end() {
    if (pid_ < 0) return;
    kill(pid_, SIGKILL);
    waitpid(std::exchange(pid_, -1), nullptr, 0);
  }

 private:
  pid_t pid_ = -1;
};

constexpr std::array sample{std::byte{3}, std::byte{1}, std::byte{4}, std::byte{1}};

std::optional<ProcessMemory> open(const Child& child) {
  return ProcessMemory::open(child.pid(), address(sample.data()), sample);
}

template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.failure(), Failure::internal);
    return error.what();
  }
  return "no error";
}

TEST(ProcessMemory, IsReadAndWrittenInPieces) {
  const Pages pages(600);
  const Child child([&] { pages.data()[5] = std::byte{99}; });
  const auto memory = open(child);
  ASSERT_TRUE(memory);
  std::byte fifth{};
  std::vector<std::byte> last(3 * page_bytes + 1);
  const std::array pieces{Piece{5, {&fifth, 1}}, Piece{}, Piece{pages.bytes() - last.size(), last}};
  memory->read(pages.data(), pieces);
  EXPECT_EQ(fifth, std::byte{99});
  EXPECT_NE(pages.data()[5], fifth) << "the child's own copy";
  EXPECT_TRUE(std::ranges::equal(last, std::span(pages.data(), pages.bytes()).last(last.size())));

  const std::array written{std::byte{42}, std::byte{43}};
  const SourcePiece one{page_bytes - 1, written};
  memory->write(pages.data(), {&one, 1});
  memory->fill(pages.data() + page_bytes + 1, std::byte{7}, 512 * page_bytes + 3);
  std::vector<std::byte> all(pages.bytes());
  const Piece whole{.bytes = all};
  memory->read(pages.data(), {&whole, 1});
  std::vector<std::byte> expected(pages.data(), pages.data() + pages.bytes());
  expected[5] = fifth;
  std::ranges::copy(written, expected.begin() + page_bytes - 1);
  std::fill_n(expected.begin() + page_bytes + 1, 512 * page_bytes + 3, std::byte{7});
  EXPECT_EQ(all, expected);
}

TEST(ProcessMemory, TakesMorePiecesThanACall) {
  const Pages pages(3);
  const Child child([] {});
  const auto memory = open(child);
  ASSERT_TRUE(memory);
  std::vector<std::byte> read(pages.bytes());
  std::vector<Piece> pieces;
  std::vector<SourcePiece> written;
  for (std::size_t i = 0; i < pages.bytes(); i += 3) {
    pieces.push_back({i, std::span(read).subspan(i, 3)});
    written.push_back({pages.bytes() - 3 - i, {pages.data() + i, 3}});
  }
  ASSERT_GT(pieces.size(), 2048U);
  memory->write(pages.data(), written);
  memory->read(pages.data(), pieces);
  for (std::size_t i = 0; i < read.size(); i += 3) {
    ASSERT_TRUE(std::ranges::equal(std::span(read).subspan(read.size() - 3 - i, 3),
                                   std::span(pages.data() + i, 3)));
  }
}

TEST(ProcessMemory, IsNotReadThroughAProtectedPage) {
  const Pages pages(4);
  // Would compute when somebody looks.
  static std::byte* protected_page = nullptr;
  protected_page = pages.data() + 2 * page_bytes;
  const Child child([] {
    struct sigaction action {};
    action.sa_handler = [](int) { mprotect(protected_page, page_bytes, PROT_READ | PROT_WRITE); };
    sigaction(SIGSEGV, &action, nullptr);
    mprotect(protected_page, page_bytes, PROT_NONE);
  });
  const auto memory = open(child);
  ASSERT_TRUE(memory);
  std::vector<std::byte> content(pages.bytes());
  const Piece whole{.bytes = content};
  const std::string why = "it has protected pages that hold tensors, or unmapped them";
  EXPECT_EQ(error_of([&] {
              memory->read(pages.data(), {&whole, 1});
            }),
            "cannot read memory of the kernels' process: " + why);
  EXPECT_EQ(error_of([&] { memory->fill(pages.data(), std::byte{1}, pages.bytes()); }),
            "cannot write memory of the kernels' process: " + why);
}

TEST(ProcessMemory, OfAnEndedProcessIsAnError) {
  const Pages pages(1);
  Child child([] {});
  const auto memory = open(child);
  ASSERT_TRUE(memory);
  child.end();
  std::byte first{};
  const Piece one{.bytes = {&first, 1}};
  EXPECT_EQ(error_of([&] {
              memory->read(pages.data(), {&one, 1});
            }),
            "cannot read memory of the kernels' process: it has ended");
}

TEST(ProcessMemory, IsNotOpenedWhereOtherBytesLie) {
  const Child child([] {});
  const std::array other{std::byte{3}, std::byte{1}, std::byte{4}, std::byte{2}};
  EXPECT_FALSE(ProcessMemory::open(child.pid(), address(sample.data()), other));
  EXPECT_FALSE(ProcessMemory::open(child.pid(), 4096, sample));
}

/// A socket to a process that takes its time.
class SlowGroup final : public ProcessGroup {
 public:
  explicit SlowGroup(FileDescriptor socket) : group_(std::move(socket), 1, [] { _exit(0); }) {}
  int rank() const override { return 1; }
  int size() const override { return 2; }
  std::string library() const override { return {}; }
  std::string transport() const override { return {}; }
  void send(int to, std::span<const std::byte> bytes) override { group_.send(to, bytes); }
  std::vector<std::byte> receive(int from) override {
    auto bytes = group_.receive(from);
    usleep(2000);
    return bytes;
  }
  void broadcast(std::span<const int> /*members*/, std::span<std::byte> /*bytes*/) override {}
  void run(std::span<const int> /*members*/, const CollectiveCall& /*call*/) override {}

 private:
  providers::SocketGroup group_;
};

/// Tensors so small that no team of threads fills them: a forked process has none.
constexpr std::size_t small_bytes = 100'000;

/// The CPU, served by another process.
class DeviceOfAProcess : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2] = {-1, -1};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    FileDescriptor other(ends[1]);
    judge_.emplace(FileDescriptor(ends[0]), 0, [] { throw std::runtime_error("lost"); });
    child_ = fork();
    if (child_ == 0) {
      judge_.reset();
      std::thread([this] {
        for (;;) ++*counter_;
      }).detach();
      SlowGroup group(std::move(other));
      const auto cpu = cpu::make_backend();
      serve(group, {.backend = *cpu});
      _exit(0);
    }
    peer_.emplace(*judge_, 1);
    device_.emplace(DeviceInfo{}, *peer_,
                    ProcessMemory::open(child_, address(sample.data()), sample));
  }
  void TearDown() override {
    if (child_ < 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  std::uint64_t counted() const { return *counter_; }
  /// True if the process still counts. One that does not is given many turns to go on.
  bool counts_on() const {
    const std::uint64_t before = counted();
    for (int i = 0; i < 200 && counted() == before; ++i) usleep(1000);
    return counted() != before;
  }

  /// In memory that both processes share; a thread of the other one counts.
  std::atomic<std::uint64_t>* counter_ =
      new (mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
          std::atomic<std::uint64_t>(0);
  pid_t child_ = -1;
  std::optional<providers::SocketGroup> judge_;
  std::optional<Peer> peer_;
  std::optional<RemoteDevice> device_;
};

TEST_F(DeviceOfAProcess, TransfersWithoutItsHelp) {
  const Buffer buffer(*device_, small_bytes);
  device_->fill(buffer.data(), std::byte{5}, buffer.bytes());
  std::vector<std::byte> content(1000);
  std::iota(reinterpret_cast<unsigned char*>(content.data()),
            reinterpret_cast<unsigned char*>(content.data()) + content.size(), 0);
  device_->upload(buffer.data() + 10, content.data(), content.size());
  kill(child_, SIGSTOP);  // no code runs there
  std::vector<std::byte> read(1020);
  device_->download(read.data(), buffer.data(), read.size());
  EXPECT_EQ(read[9], std::byte{5});
  EXPECT_TRUE(std::ranges::equal(std::span(read).subspan(10, 1000), content));
  std::array<std::byte, 2> two{};
  const std::array pieces{Piece{11, {two.data(), 1}}, Piece{13, {&two[1], 1}}};
  device_->download_pieces(buffer.data(), pieces);
  EXPECT_EQ(two, (std::array{std::byte{1}, std::byte{3}}));
  kill(child_, SIGCONT);
}

TEST_F(DeviceOfAProcess, StandsStillUntilNextToldSomething) {
  const Buffer buffer(*device_, small_bytes);
  device_->fill(buffer.data(), std::byte{5}, buffer.bytes());
  while (counted() == 0) usleep(1000);
  EXPECT_TRUE(counts_on());
  for (int i = 0; i < 3; ++i) {
    device_->pause();
    EXPECT_FALSE(counts_on());
    std::byte first{};
    device_->download(&first, buffer.data(), 1);
    const std::byte other{7};
    device_->upload(buffer.data(), &other, 1);
    EXPECT_EQ(first, i == 0 ? std::byte{5} : std::byte{7});
    EXPECT_FALSE(counts_on()) << "transfers need no help of it";
    const auto stream = device_->create_stream();
    EXPECT_TRUE(counts_on());
  }
}

TEST_F(DeviceOfAProcess, StandsStillOnceHoweverOftenItIsTold) {
  device_->pause();
  device_->pause();
  EXPECT_FALSE(counts_on());
  const auto stream = device_->create_stream();
  EXPECT_TRUE(counts_on()) << "once more goes on";
  device_->pause();
  EXPECT_FALSE(counts_on());
}

TEST_F(DeviceOfAProcess, FinishesItsWorkBeforeItStandsStill) {
  const Buffer buffer(*device_, small_bytes);
  for (int i = 0; i < 5; ++i) {
    peer_->tell(Writer(Command::fill)
                    .put(address(buffer.data()))
                    .put(static_cast<std::byte>(i))
                    .put(buffer.bytes()));
    device_->pause();
    std::byte last{};
    device_->download(&last, buffer.data() + buffer.bytes() - 1, 1);
    ASSERT_EQ(last, static_cast<std::byte>(i));
  }
}

TEST_F(DeviceOfAProcess, CannotStandStillWhenItHasEnded) {
  kill(child_, SIGKILL);
  siginfo_t seen{};
  waitid(P_PID, static_cast<id_t>(child_), &seen, WEXITED | WNOWAIT);
  device_->pause();
  EXPECT_FALSE(peer_->stands_still()) << "ended, and not yet waited for";
  waitpid(std::exchange(child_, -1), nullptr, 0);
  device_->pause();
  EXPECT_FALSE(peer_->stands_still());
}

TEST_F(DeviceOfAProcess, WaitsForWhatWasToldBefore) {
  const Buffer buffer(*device_, small_bytes);
  const auto stream = device_->create_stream();
  for (int i = 1; i < 20; ++i) {
    // As the messages without an answer are: done later.
    peer_->tell(Writer(Command::fill)
                    .put(address(buffer.data()))
                    .put(static_cast<std::byte>(i))
                    .put(buffer.bytes()));
    std::byte last{};
    device_->download(&last, buffer.data() + buffer.bytes() - 1, 1);
    ASSERT_EQ(last, static_cast<std::byte>(i));
  }
}

}  // namespace
}  // namespace assay::remote
