#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "harness/execute/engine.h"
#include "harness/execute/trial.h"
#include "harness/plan/case.h"
#include "kernels/core/status.h"
#include "kernels/cpu/backend.h"
#include "kernels/cpu/traits.h"
#include "kernels/device/launch_info.h"
#include "kernels/ranks/backend.h"
#include "kernels/remote/collective.h"
#include "kernels/remote/server.h"
#include "tests/unit/noting_device.h"
#include "tests/unit/scoped_variable.h"

namespace assay::ranks {

using remote::Command;
using remote::Reader;
using remote::Writer;

namespace {

/// Connects ranks that are threads of one process, as MPI connects processes.
class Hub {
 public:
  explicit Hub(int size)
      : size_(size), boxes_(static_cast<std::size_t>(size) * static_cast<std::size_t>(size)) {}
  int size() const { return size_; }
  void send(int from, int to, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    box(from, to).emplace_back(bytes.begin(), bytes.end());
    arrived_.notify_all();
  }
  std::vector<std::byte> receive(int from, int to) {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return !box(from, to).empty(); });
    auto bytes = std::move(box(from, to).front());
    box(from, to).pop_front();
    return bytes;
  }

 private:
  std::deque<std::vector<std::byte>>& box(int from, int to) {
    return boxes_.at(static_cast<std::size_t>(from) * static_cast<std::size_t>(size_) +
                     static_cast<std::size_t>(to));
  }
  int size_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<std::deque<std::vector<std::byte>>> boxes_;
};

class ThreadGroup : public ProcessGroup {
 public:
  ThreadGroup(Hub& hub, int rank) : hub_(hub), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return hub_.size(); }
  std::string library() const override { return "threads"; }
  std::string transport() const override { return "queues"; }
  void send(int to, std::span<const std::byte> bytes) override { hub_.send(rank_, to, bytes); }
  std::vector<std::byte> receive(int from) override { return hub_.receive(from, rank_); }
  void broadcast(std::span<const int> members, std::span<std::byte> bytes) override {
    if (rank_ == members.front()) {
      for (const int member : members.subspan(1)) send(member, bytes);
    } else {
      std::ranges::copy(receive(members.front()), bytes.begin());
    }
  }
  /// Every member gets the inputs of all, and makes its own output of them.
  void run(std::span<const int> members, const CollectiveCall& call) override {
    const auto me = static_cast<std::size_t>(std::ranges::find(members, rank_) - members.begin());
    const std::size_t chunk = call.count * size_bytes(call.dtype);
    const bool has_chunks =
        call.collective == Collective::reduce_scatter || call.collective == Collective::all_to_all;
    const bool is_inside = call.collective == Collective::all_gather && call.input == call.output;
    const auto* begin = static_cast<const std::byte*>(call.input) + (is_inside ? me * chunk : 0);
    std::vector<std::vector<std::byte>> all(members.size());
    all[me].assign(begin, begin + (has_chunks ? members.size() : 1) * chunk);
    for (const int member : members) {
      if (member != rank_) hub_.send(rank_, member, all[me]);
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (i != me) all[i] = hub_.receive(members[i], rank_);
    }
    auto* output = static_cast<std::byte*>(call.output);
    const auto leave = [&](std::size_t rank, std::size_t at) {
      std::memcpy(output, &all[rank][at], chunk);
      output += chunk;
    };
    const auto reduced = [&](std::size_t at) {
      for (std::size_t i = 1; i < all.size(); ++i) {
        call.reduction.combine(&all[0][at], &all[0][at], &all[i][at], call.count);
      }
      leave(0, at);
    };
    switch (call.collective) {
      case Collective::allreduce:
        return reduced(0);
      case Collective::reduce:
        return static_cast<int>(me) == call.root ? reduced(0) : void();
      case Collective::reduce_scatter:
        return reduced(me * chunk);
      case Collective::all_gather:
        for (std::size_t i = 0; i < all.size(); ++i) leave(i, 0);
        return;
      case Collective::broadcast:
        return leave(static_cast<std::size_t>(call.root), 0);
      case Collective::all_to_all:
        for (std::size_t i = 0; i < all.size(); ++i) leave(i, me * chunk);
        return;
      case Collective::send_recv:
        if (call.peers.from >= 0) leave(static_cast<std::size_t>(call.peers.from), 0);
        return;
    }
  }

 private:
  Hub& hub_;
  int rank_;
};

/// Rank 0 of a job of three, whose other ranks serve in threads.
class Job {
 public:
  static constexpr int ranks = 3;
  using MakeGroup = std::function<std::unique_ptr<ProcessGroup>(Hub&, int rank)>;
  using MakeCpu = std::function<std::unique_ptr<Backend>(int rank)>;

  Job(const MakeGroup& make_group, const MakeCpu& make_cpu) {
    for (int rank = 1; rank < ranks; ++rank) {
      servers_.emplace_back([this, rank, make_group, make_cpu] {
        const auto group = make_group(hub_, rank);
        Backends own;
        own.add(make_cpu(rank));
        const OwnDevice device = own_device(*group, own, {"test", rank, ranks, rank, 0});
        remote::serve(*group, served(device, rank));
      });
    }
    backends_.add(make_cpu(0));
    backends_.add(make_backend(
        {"test", 0, ranks, 0}, [this, make_group] { return make_group(hub_, 0); }, backends_));
    backends_.find("mpi")->open(0);  // joins, so that the servers are released in any case
  }
  ~Job() {
    backends_ = Backends();
    for (std::thread& server : servers_) server.join();
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  Backends& backends() { return backends_; }

 private:
  Hub hub_{ranks};
  std::vector<std::thread> servers_;
  Backends backends_;
};

class RanksAsDevices : public testing::Test {
 protected:
  Record execute(const std::string& case_id, const std::vector<int>& lane,
                 const std::string& timing = "") {
    PlannedTrial planned{.test = parse_case_id(case_id), .timing = timing};
    for (const int rank : lane) planned.lane.push_back({"mpi", rank});
    return engine_.execute(planned, [] {}).record;
  }

  Job job_{[](Hub& hub, int rank) { return std::make_unique<ThreadGroup>(hub, rank); },
           [](int /*rank*/) { return cpu::make_backend(); }};
  Engine engine_{job_.backends(), {}};
};

TEST_F(RanksAsDevices, ComputeWhatTheyAreAsked) {
  for (const int rank : {0, 1, 2}) {
    const Record record =
        execute("linear/f32/batch=16,in=64,out=33,bias=1,act=relu", {rank}, "batch");
    EXPECT_EQ(record.status, Status::pass) << record.reason;
    EXPECT_GT(record.time_median_s.value_or(0), 0);
    EXPECT_EQ(record.device, "mpi:" + std::to_string(rank));
  }
}

TEST_F(RanksAsDevices, ReduceTogetherInAllDtypesAndWays) {
  for (const char* dtype : {"f32", "f64", "bf16", "f16", "i32", "i64"}) {
    for (const char* reduce : {"sum", "prod", "min", "max", "avg", "premul_sum"}) {
      for (const char* place : {"", ",place=in"}) {
        const std::string id =
            std::string("allreduce/") + dtype + "/reduce=" + reduce + ",ranks=3,count=1003" + place;
        const Record record = execute(id, {0, 1, 2});
        EXPECT_EQ(record.status, Status::pass) << id << ": " << record.reason;
        EXPECT_EQ(record.transport, "queues");
      }
    }
  }
}

TEST_F(RanksAsDevices, MoveAndReduceByEveryCollective) {
  for (const char* dtype : {"f32", "bf16", "i64"}) {
    for (const char* kind :
         {"reduce/%/reduce=avg,root=1,", "reduce/%/reduce=sum,place=in,",
          "reduce_scatter/%/reduce=premul_sum,", "all_gather/%/", "all_gather/%/place=in,",
          "broadcast/%/root=2,", "broadcast/%/place=in,", "all_to_all/%/", "send_recv/%/",
          "send_recv_pair/%/from=2,to=1,"}) {
      std::string id = std::string("collectives/") + kind + "ranks=3,count=1003";
      id.replace(id.find('%'), 1, dtype);
      const Record record = execute(id, {0, 1, 2});
      EXPECT_EQ(record.status, Status::pass) << id << ": " << record.reason;
    }
  }
}

TEST_F(RanksAsDevices, ReduceWithoutTheRankThatDrivesThem) {
  const Record record = execute("allreduce/f32/reduce=sum,ranks=2,count=1003", {1, 2}, "batch");
  EXPECT_EQ(record.status, Status::pass) << record.reason;
  EXPECT_GT(record.busbw_bytes_per_s.value_or(0), 0);
}

TEST_F(RanksAsDevices, PlaceTensorsAndModules) {
  for (const char* id :
       {"placement/move_copies/f32/n=1003", "placement/mixed_devices_refused/f32/n=1003",
        "placement/linear_module/f32/batch=2,in=3,out=3,bias=1,act=none"}) {
    EXPECT_EQ(execute(id, {1}).status, Status::pass) << id;
  }
  for (const char* id :
       {"placement/move_between/f32/devices=3,n=1003",
        "placement/data_parallel/f32/devices=3,batch=17,in=10,width=16,layers=2,bias=0,act=relu",
        "placement/distributed_gradient/f32/ranks=3,samples=13,in=3,out=1"}) {
    const Record record = execute(id, {0, 1, 2});
    EXPECT_EQ(record.status, Status::pass) << id << ": " << record.reason;
    EXPECT_EQ(record.device, "mpi:0+mpi:1+mpi:2");
  }
}

TEST_F(RanksAsDevices, SayWhichOfThemHasNotWhatIsAsked) {
  const Record record =
      execute("transfers/device_memcpy/u8/from=pinned,to=device,bytes=64,by=engine", {2});
  EXPECT_EQ(record.status, Status::skip) << record.reason;
  EXPECT_NE(record.reason.find("rank 2: "), std::string::npos) << record.reason;
  // An error of one trial does not reach the next.
  EXPECT_EQ(execute("tensor_ops/add/f32/n=1003", {2}).status, Status::pass);
}

// --- Calls between the readings of a rank's clock ------------------------------------------------

class NotingGroup final : public ThreadGroup {
 public:
  NotingGroup(Hub& hub, int rank, Notes& notes) : ThreadGroup(hub, rank), notes_(notes) {}
  void send(int to, std::span<const std::byte> bytes) override {
    notes_.add("send");
    ThreadGroup::send(to, bytes);
  }
  std::vector<std::byte> receive(int from) override {
    auto bytes = ThreadGroup::receive(from);
    notes_.add("receive");
    return bytes;
  }
  void run(std::span<const int> members, const CollectiveCall& call) override {
    notes_.add("meet" + std::to_string(members.size()));
    ThreadGroup::run(members, call);
  }

 private:
  Notes& notes_;
};

class NotingCpu final : public Backend {
 public:
  explicit NotingCpu(Notes& notes) : notes_(notes) {}
  const BackendTraits& traits() const override { return traits_; }
  std::vector<DeviceInfo> describe() const override { return real_->describe(); }
  std::unique_ptr<Device> open(int index) override {
    return std::make_unique<NotingDevice>(real_->open(index), notes_);
  }
  std::unique_ptr<Communicator> connect(std::span<Device* const>, int, Bootstrap&) override {
    return std::make_unique<Connected>(notes_);
  }

 private:
  struct Connected final : Communicator {
    explicit Connected(Notes& notes) : notes_(notes) {}
    std::string transport() const override { return "none"; }
    std::unique_ptr<Kernel> prepare(const OpInstance&, std::span<const Binding>) override {
      return std::make_unique<NotingKernel>(notes_);
    }
    Notes& notes_;
  };
  std::unique_ptr<Backend> real_ = cpu::make_backend();
  BackendTraits traits_ = [] {
    BackendTraits traits = cpu::traits();
    traits.ranks_share_device = false;
    return traits;
  }();
  Notes& notes_;
};

class RanksThatNote : public testing::Test {
 protected:
  static constexpr const char* of_all = "allreduce/f32/reduce=sum,ranks=3,count=4";

  /// Returns the calls of each rank, in order, when two launches on `lane` are timed.
  std::array<std::string, Job::ranks> time(const std::string& id, const std::vector<int>& lane,
                                           bool cold = false, bool fails_before = false) {
    Backend& mpi = *job_.backends().find("mpi");
    std::vector<std::unique_ptr<Device>> devices;
    std::vector<Device*> pointers;
    for (const int rank : lane) pointers.push_back(devices.emplace_back(mpi.open(rank)).get());
    Trial trial(parse_case_id(id).op, mpi, pointers);
    const Buffer scratch(*devices.at(devices.size() > 1 ? 1 : 0), 1);
    trial.time_s(0);                                               // makes what is made once
    for (int rank = 0; rank < Job::ranks; ++rank) mpi.open(rank);  // waits for all work
    for (Notes& notes : notes_) notes.text.clear();
    if (fails_before) devices.at(1)->upload(scratch.data(), &id, 1);
    trial.time_s(2, cold);
    return {notes_[0].text, notes_[1].text, notes_[2].text};
  }

  std::array<Notes, Job::ranks> notes_;
  Job job_{[this](Hub& hub, int rank) {
             return std::make_unique<NotingGroup>(hub, rank,
                                                  notes_.at(static_cast<std::size_t>(rank)));
           },
           [this](int rank) {
             return std::make_unique<NotingCpu>(notes_.at(static_cast<std::size_t>(rank)));
           }};
};

TEST_F(RanksThatNote, NoMessageIsInATime) {
  const auto did = time(of_all, {0, 1, 2});
  const std::string timed = "meet3 record launch launch record";
  EXPECT_EQ(did[0], "send send " + timed + " receive receive");
  EXPECT_EQ(did[1], "receive " + timed + " send");
  EXPECT_EQ(did[2], "receive " + timed + " send");
}

TEST_F(RanksThatNote, CachesAreFlushedOnAllRanksBeforeOneBegins) {
  EXPECT_EQ(time(of_all, {0, 1, 2}, true)[1],
            "receive flush meet3 wait meet3 record launch launch record send");
}

TEST_F(RanksThatNote, AllAreHeldUntilAllHaveEnqueuedTheirWork) {
  for (Notes& notes : notes_) notes.can_block = true;
  const std::string timed = "block meet3 record launch launch record meet3 unblock";
  const auto did = time(of_all, {0, 1, 2});
  EXPECT_EQ(did[0], "send send " + timed + " receive receive");
  EXPECT_EQ(did[1], "receive " + timed + " send");
  EXPECT_EQ(did[2], "receive " + timed + " send");
}

TEST_F(RanksThatNote, LaunchTheirGraphsIfAllHaveOne) {
  for (Notes& notes : notes_) notes.can_block = notes.has_graphs = true;
  EXPECT_EQ(time(of_all, {0, 1, 2})[1],
            "receive block meet3 record graph2 record meet3 unblock send");
  notes_[2].has_graphs = false;
  for (const std::string& did : time(of_all, {0, 1, 2})) {
    EXPECT_NE(did.find("record launch launch record"), std::string::npos) << did;
  }
}

TEST_F(RanksThatNote, NoneIsHeldIfOneCannotBe) {
  notes_[0].can_block = notes_[2].can_block = true;
  const auto did = time(of_all, {0, 1, 2});
  EXPECT_EQ(did[0], "send send block meet3 unblock record launch launch record receive receive");
  EXPECT_EQ(did[1], "receive meet3 record launch launch record send");
}

TEST_F(RanksThatNote, NoneLaunchesIfOneHasFailedBefore) {
  notes_[1].refuses_uploads = true;
  try {
    time(of_all, {0, 1, 2}, false, true);
    FAIL() << "rank 1 refuses";
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(), "rank 1: no upload");
  }
  for (const Notes& notes : notes_) {
    EXPECT_NE(notes.text.find("meet3"), std::string::npos) << notes.text;
    EXPECT_EQ(notes.text.find("launch"), std::string::npos) << notes.text;
  }
}

TEST_F(RanksThatNote, OneThatFailsToLaunchReleasesTheOthers) {
  for (Notes& notes : notes_) notes.can_block = true;
  notes_[1].refuses = true;
  EXPECT_THROW(time(of_all, {0, 1, 2}), DeviceError);
  EXPECT_TRUE(notes_[1].text.starts_with("receive block meet3 record meet3 unblock send"))
      << notes_[1].text;
}

TEST_F(RanksThatNote, OnlyThoseMeetThatWorkTogether) {
  const auto did = time("allreduce/f32/reduce=sum,ranks=2,count=4", {2, 1});
  EXPECT_EQ(did[1], "receive meet2 record launch launch record send");
  EXPECT_EQ(did[0].find("meet"), std::string::npos);
  EXPECT_EQ(time("tensor_ops/neg/f32/n=4", {1})[1], "receive record launch launch record send");
}

TEST_F(RanksThatNote, AnErrorOfATimedLaunchIsToldToWhoReadsItsTime) {
  notes_[1].refuses = true;
  try {
    time(of_all, {0, 1, 2});
    FAIL() << "rank 1 refuses";
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.failure(), Failure::device_lost);
    EXPECT_STREQ(error.what(), "rank 1: refused");
  }
  time("tensor_ops/neg/f32/n=4", {2});
  notes_[1].refuses = false;
  time("tensor_ops/neg/f32/n=4", {1});  // no error is left
}

/// Connects ranks as GPUs do: each has one device, and one of them broadcasts the way to find each
/// other.
class FindsEachOther final : public Backend {
 public:
  struct Connected final : Communicator {
    explicit Connected(std::string found) : found_(std::move(found)) {}
    std::string transport() const override { return found_; }
    std::unique_ptr<Kernel> prepare(const OpInstance&, std::span<const Binding>) override {
      return nullptr;
    }
    std::string found_;
  };
  const BackendTraits& traits() const override {
    static const BackendTraits traits{.kind = "test"};
    return traits;
  }
  std::vector<DeviceInfo> describe() const override { return {}; }
  std::unique_ptr<Device> open(int) override { return nullptr; }
  std::unique_ptr<Communicator> connect(std::span<Device* const> devices, int ranks,
                                        Bootstrap& bootstrap) override {
    constexpr int root = 1;
    EXPECT_EQ(devices.size(), 1U);
    std::byte id{static_cast<unsigned char>(bootstrap.rank() == root ? 42 : 0)};
    bootstrap.broadcast(std::span(&id, 1), root);
    return std::make_unique<Connected>("id " + std::to_string(std::to_integer<int>(id)) +
                                       ", rank " + std::to_string(bootstrap.rank()) + " of " +
                                       std::to_string(bootstrap.size()) + " for " +
                                       std::to_string(ranks));
  }
};

TEST(Members, NumberThemselvesAndHearOneOfThem) {
  Hub hub(4);
  const std::vector<int> members{3, 0, 2};
  std::vector<std::string> found(4);
  {
    std::vector<std::jthread> processes;
    for (const int member : members) {
      processes.emplace_back([&, member] {
        ThreadGroup group(hub, member);
        FindsEachOther backend;
        const auto device = cpu::make_backend()->open(0);
        found.at(static_cast<std::size_t>(member)) =
            remote::connect(group, backend, *device, members)->transport();
      });
    }
  }
  EXPECT_EQ(found,
            (std::vector<std::string>{"id 42, rank 1 of 3 for 3", "", "id 42, rank 2 of 3 for 3",
                                      "id 42, rank 0 of 3 for 3"}));
}

TEST(Server, KeepsAnErrorOfALaunchFromTheNextKernel) {
  Hub hub(1);
  ThreadGroup group(hub, 0);
  const auto cpu = cpu::make_backend();
  remote::Server server(group, {*cpu, 0});
  const auto ask = [&](const Writer& message) {
    const auto answer = server.handle(message.bytes());
    Reader reader(answer.value());
    const bool failed = reader.get<bool>();
    return failed ? std::uint64_t{0} : reader.get<std::uint64_t>();
  };
  const std::uint64_t stream = ask(Writer(Command::create_stream));
  ASSERT_NE(stream, 0U);
  // Launches a kernel that does not exist. Only a request for the error reports it.
  EXPECT_FALSE(server.handle(Writer(Command::launch).put(std::uint64_t{99}).bytes()));
  EXPECT_FALSE(server.handle(Writer(Command::end_kernel).put(std::uint64_t{99}).bytes()));
  EXPECT_NE(ask(Writer(Command::create_stream)), 0U) << "the next trial's stream";
  EXPECT_FALSE(server.handle(Writer(Command::launch).put(std::uint64_t{99}).bytes()));
  EXPECT_EQ(ask(Writer(Command::synchronize).put(stream)), 0U) << "who asks is told";
}

TEST(LaunchInfo, IsWhatTheEnvironmentOfALauncherSays) {
  const auto with = [](std::initializer_list<std::pair<const char*, const char*>> variables) {
    std::deque<testing_support::ScopedVariable> set;
    for (const auto& [name, value] : variables) set.emplace_back(name, value);
    return launch_info();
  };
  EXPECT_FALSE(with({}).has_value());
  const auto open_mpi = with({{"OMPI_COMM_WORLD_SIZE", "4"},
                              {"OMPI_COMM_WORLD_RANK", "3"},
                              {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}});
  ASSERT_TRUE(open_mpi.has_value());
  EXPECT_EQ(open_mpi->launcher, "mpirun");
  EXPECT_EQ(open_mpi->rank, 3);
  EXPECT_EQ(open_mpi->size, 4);
  EXPECT_EQ(open_mpi->local_rank, 1);
  const auto slurm =
      with({{"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_PROCID", "1"}, {"SLURM_LOCALID", "0"}});
  ASSERT_TRUE(slurm.has_value());
  EXPECT_EQ(slurm->launcher, "srun");
  EXPECT_FALSE(with({{"SLURM_NTASKS", "2"}, {"SLURM_PROCID", "0"}}).has_value())
      << "a batch script";
  EXPECT_FALSE(with({{"PMI_SIZE", "1"}, {"PMI_RANK", "0"}}).has_value()) << "alone";
  EXPECT_THROW(with({{"PMI_SIZE", "2"}, {"PMI_RANK", "x"}}), UsageError);
  EXPECT_THROW(with({{"PMI_SIZE", "2"}, {"PMI_RANK", "2"}}), UsageError);
}

}  // namespace
}  // namespace assay::ranks
