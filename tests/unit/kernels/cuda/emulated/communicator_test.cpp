// All-reduce of the CUDA backend, on emulated GPUs.
#include "kernels/device/communicator.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>
#include <utility>

#include "kernels/device/held_work.h"
#include "tests/unit/kernels/cuda/emulated/support.h"

namespace assay {
namespace {

/// Shared by two threads that stand for processes.
struct Rendezvous {
  std::mutex mutex;
  std::condition_variable arrived;
  std::array<std::deque<std::vector<std::byte>>, 2> messages;  // on their way, by sender
};

/// One of two processes.
class Process final : public Bootstrap {
 public:
  Process(int rank, Rendezvous& meeting) : rank_(rank), meeting_(meeting) {}
  int rank() const override { return rank_; }
  int size() const override { return 2; }
  void broadcast(std::span<std::byte> bytes, int root) override {
    std::unique_lock lock(meeting_.mutex);
    auto& messages = meeting_.messages.at(static_cast<std::size_t>(root));
    if (rank_ == root) {
      messages.emplace_back(bytes.begin(), bytes.end());
      return meeting_.arrived.notify_all();
    }
    meeting_.arrived.wait(lock, [&] { return !messages.empty(); });
    std::ranges::copy(messages.front(), bytes.begin());
    messages.pop_front();
  }

 private:
  int rank_;
  Rendezvous& meeting_;
};

/// Lets the emulated NCCL tell which ranks it makes and ends.
class NcclLog {
 public:
  NcclLog()
      : path_(testing::TempDir() + "/assay-nccl-" + std::to_string(getpid()) + "-" +
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove(path_);
  }
  ~NcclLog() { std::filesystem::remove(path_); }
  NcclLog(const NcclLog&) = delete;
  NcclLog& operator=(const NcclLog&) = delete;
  emulator::Environment environment() const {
    return {{"NCCL_DEBUG", "INFO"}, {"ASSAY_EMULATOR_LOG", path_}};
  }
  std::ptrdiff_t count(const std::string& text) const {
    std::ifstream file(path_);
    std::ptrdiff_t lines = 0;
    for (std::string line; std::getline(file, line);) lines += line.find(text) != line.npos ? 1 : 0;
    return lines;
  }

 private:
  std::string path_;
};

OpInstance sum_of_two() {
  return instance("allreduce", DType::i32, {{"reduce", "sum"}, {"ranks", "2"}, {"count", "5"}});
}

TEST(EmulatedCommunicators, BetweenProcessesReduceOverAllOfThem) {
  on_gpus(2, [](Backend& backend) {
    Rendezvous meeting;
    const OpInstance op = sum_of_two();
    const auto run = [&](int rank) {
      const auto gpu = backend.open(rank);
      Process process(rank, meeting);
      Device* devices[] = {gpu.get()};
      const auto communicator = backend.connect(devices, 2, process);
      EXPECT_EQ(communicator->transport(), "nccl between processes");
      const Rank own(*gpu, op);
      communicator->prepare(op, {&own.binding, 1})->launch();
      own.stream->synchronize();
      std::int32_t last = 0;
      gpu->download(&last, static_cast<std::int32_t*>(own.binding.outputs[0]) + 4, sizeof last);
      EXPECT_EQ(last, 0x02020202);
    };
    std::thread other(run, 1);
    run(0);
    other.join();
  });
}

/// Where two threads agree that stand for processes. The first one comes late to every second
/// meeting, when the other's GPU is held.
class Agreement final : public Meeting {
 public:
  struct Table {
    std::mutex mutex;
    std::condition_variable changed;
    unsigned bits = ~0U, agreed = 0;
    int arrived = 0, met = 0;
  };
  Agreement(Table& table, std::chrono::milliseconds late) : table_(table), late_(late) {}
  unsigned agree(unsigned own) override {
    if (++calls_ % 2 == 0) std::this_thread::sleep_for(late_);
    std::unique_lock lock(table_.mutex);
    table_.bits &= own;
    if (++table_.arrived % 2 == 0) {
      table_.agreed = std::exchange(table_.bits, ~0U);
      ++table_.met;
      table_.changed.notify_all();
    } else {
      table_.changed.wait(lock, [&, met = table_.met] { return table_.met != met; });
    }
    return table_.agreed;
  }

 private:
  Table& table_;
  std::chrono::milliseconds late_;
  int calls_ = 0;
};

const std::vector<std::string> seeds{"1", "2", "3", "4", "5"};

void expect_sum(Device& gpu, const Rank& rank, std::int32_t sum) {
  std::int32_t last = 0;
  gpu.download(&last, static_cast<std::int32_t*>(rank.binding.outputs[0]) + 4, sizeof last);
  EXPECT_EQ(last, sum);
}

/// Times an all-reduce of two processes, of which one may come late while the other is held.
void time_between_processes(std::chrono::milliseconds late, const std::string& seed) {
  on_gpus(2,
          [&](Backend& backend) {
            Rendezvous meeting;
            Agreement::Table table;
            const OpInstance op = sum_of_two();
            const auto run = [&](int rank) {
              const auto gpu = backend.open(rank);
              Process process(rank, meeting);
              Device* devices[] = {gpu.get()};
              const auto communicator = backend.connect(devices, 2, process);
              const Rank own(*gpu, op);
              const auto kernel = communicator->prepare(op, {&own.binding, 1});
              kernel->launch();
              own.stream->synchronize();
              gpu->fill(own.binding.outputs[0], std::byte{9}, 20);
              Stream* streams[] = {own.stream.get()};
              HeldWork work(streams, {{kernel.get()}},
                            std::make_unique<Agreement>(table, late * (rank == 0 ? 1 : 0)));
              for (int sample = 0; sample < 3; ++sample) work.time_s(3, sample == 2, 0);
              EXPECT_TRUE(work.was_graph());
              expect_sum(*gpu, own, 0x02020202);
            };
            std::thread other(run, 1);
            run(0);
            other.join();
          },
          {{"ASSAY_EMULATOR_SEED", seed}});
}

TEST(EmulatedCommunicators, BetweenProcessesAreTimedAsGraphs) {
  for (const std::string& seed : seeds) time_between_processes({}, seed);
}

TEST(EmulatedCommunicators, DoNotHangIfAProcessIsLateWhileAnotherIsHeld) {
  // Longer than a stream is held: the collective of one begins before that of the other is
  // released.
  for (const std::string& seed : seeds) {
    time_between_processes(std::chrono::milliseconds(250), seed);
  }
}

TEST(EmulatedCommunicators, OfOneProcessAreHeldAndTimedWithoutGraphs) {
  for (const std::string& seed : seeds) {
    for (const int ranks : {1, 2, 4}) {
      on_gpus(ranks,
              [&](Backend& backend) {
                const OpInstance op =
                    instance("allreduce", DType::i32,
                             {{"reduce", "sum"}, {"ranks", std::to_string(ranks)}, {"count", "5"}});
                std::vector<std::unique_ptr<Device>> gpus;
                std::vector<Device*> devices;
                std::vector<std::unique_ptr<Rank>> own;
                std::vector<Binding> bindings;
                std::vector<Stream*> streams;
                for (int rank = 0; rank < ranks; ++rank) {
                  devices.push_back(gpus.emplace_back(backend.open(rank)).get());
                  own.push_back(std::make_unique<Rank>(*devices.back(), op));
                  bindings.push_back(own.back()->binding);
                  streams.push_back(bindings.back().stream);
                }
                SingleProcess process;
                const auto communicator = backend.connect(devices, ranks, process);
                const auto kernel = communicator->prepare(op, bindings);
                HeldWork work(streams, {{kernel.get()}});
                EXPECT_EQ(work.time_s(40, false, 0).size(), streams.size());
                EXPECT_EQ(work.was_graph(), ranks == 1);
                for (int rank = 0; rank < ranks; ++rank) {
                  const auto at = static_cast<std::size_t>(rank);
                  expect_sum(*devices[at], *own[at], ranks * 0x01010101);
                }
              },
              {{"ASSAY_EMULATOR_SEED", seed}});
    }
  }
}

TEST(EmulatedCommunicators, BetweenProcessesAreMadeOnce) {
  const NcclLog log;
  on_gpus(
      2,
      [](Backend& backend) {
        Rendezvous meeting;
        const auto run = [&](int rank) {
          const auto gpu = backend.open(rank);
          Process process(rank, meeting);
          Device* devices[] = {gpu.get()};
          for (int trial = 0; trial < 3; ++trial) backend.connect(devices, 2, process);
        };
        std::thread other(run, 1);
        run(0);
        other.join();
      },
      log.environment());
  EXPECT_EQ(log.count("ncclCommInitRank rank"), 2);
  EXPECT_EQ(log.count("ncclCommAbort rank"), 2) << "at the end";
}

TEST(EmulatedCommunicators, OfAProcessAreMadeOnceForEachSetOfGpus) {
  const NcclLog log;
  on_gpus(
      3,
      [](Backend& backend) {
        const auto a = backend.open(0), b = backend.open(1), c = backend.open(2);
        Device* two[] = {a.get(), b.get()};
        Device* three[] = {a.get(), b.get(), c.get()};
        SingleProcess process;
        for (int trial = 0; trial < 3; ++trial) {
          backend.connect(two, 2, process);
          backend.connect(three, 3, process);
        }
      },
      log.environment());
  EXPECT_EQ(log.count("ncclCommInitAll rank 0 nranks 2"), 1);
  EXPECT_EQ(log.count("ncclCommInitAll rank 0 nranks 3"), 1);
  EXPECT_EQ(log.count("ncclCommAbort rank"), 5) << "at the end";
}

/// A communicator may have relied on the access that a staged copy takes away.
TEST(EmulatedCommunicators, DoNotOutliveTheAccessBetweenTheirGpus) {
  const NcclLog log;
  on_gpus(
      2,
      [&log](Backend& backend) {
        const auto first = backend.open(0), second = backend.open(1);
        const Buffer from(*first, 64), to(*second, 64);
        const auto stream = first->create_stream();
        const Binding binding{stream.get(), {from.data()}, {to.data()}};
        Device* devices[] = {first.get(), second.get()};
        SingleProcess process;
        const auto made_after = [&](const char* access) {
          const OpInstance op = instance("peer_memcpy", DType::u8,
                                         {{"bytes", "64"}, {"access", access}, {"by", "engine"}});
          first->prepare(op, binding);
          backend.connect(devices, 2, process);
          return log.count("ncclCommInitAll rank 0 nranks 2");
        };
        EXPECT_EQ(made_after("staged"), 1);
        EXPECT_EQ(made_after("staged"), 1) << "nothing was enabled";
        EXPECT_EQ(made_after("direct"), 1);
        EXPECT_EQ(made_after("staged"), 2);
        EXPECT_EQ(made_after("staged"), 2);
      },
      log.environment());
}

TEST(EmulatedCommunicators, RefuseAnInjectedFault) {
  on_gpus(1,
          [](Backend& backend) {
            const auto gpu = backend.open(0);
            Device* devices[] = {gpu.get()};
            SingleProcess process;
            const auto communicator = backend.connect(devices, 1, process);
            EXPECT_EQ(communicator->transport(), "nccl");
            const OpInstance op = instance("allreduce", DType::i32,
                                           {{"reduce", "sum"}, {"ranks", "1"}, {"count", "5"}});
            const Rank own(*gpu, op);
            expect_has(error_of(Failure::internal,
                                [&] {
                                  communicator->prepare(op, {&own.binding, 1});
                                }),
                       "cannot be given the fault 'trap'");
          },
          {{"ASSAY_CUDA_FAULT", "trap"}});
}

/// No later launch would ask for it.
TEST(EmulatedCommunicators, AreAskedForAnErrorOfTheLastLaunch) {
  on_gpus(1,
          [](Backend& backend) {
            const auto gpu = backend.open(0);
            Device* devices[] = {gpu.get()};
            SingleProcess process;
            const auto communicator = backend.connect(devices, 1, process);
            const OpInstance op = instance("allreduce", DType::i32,
                                           {{"reduce", "sum"}, {"ranks", "1"}, {"count", "5"}});
            const Rank own(*gpu, op);
            const auto kernel = communicator->prepare(op, {&own.binding, 1});
            kernel->launch();
            expect_has(error_of(Failure::internal, [&] { own.stream->synchronize(); }),
                       "an earlier collective");
          },
          {{"ASSAY_EMULATOR_FAULT", "async_error"}});
}

TEST(EmulatedCommunicators, ThatNcclRefusesAreErrorsAndNotKept) {
  on_gpus(1, [](Backend& backend) {
    const auto gpu = backend.open(0);
    Device* twice[] = {gpu.get(), gpu.get()};
    SingleProcess process;
    expect_has(error_of(Failure::internal, [&] { backend.connect(twice, 2, process); }),
               "ncclCommInitAll");
    Device* once[] = {gpu.get()};
    EXPECT_NO_THROW(backend.connect(once, 1, process));
  });
}

}  // namespace
}  // namespace assay
