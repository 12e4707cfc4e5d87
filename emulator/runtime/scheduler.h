#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "emulator/machine/fault.h"
#include "emulator/runtime/order.h"

namespace emulator {

/// Holds the one lock around the runtime.
using Lock = std::unique_lock<std::mutex>;
using Clock = std::chrono::steady_clock;

/// Tells where a piece of work stands, whether it is done, and since when.
struct Ticket {
  WorkPosition position = {};
  bool is_done = false;
  Clock::time_point done_at;
};
using TicketPointer = std::shared_ptr<Ticket>;

/// again: it got on, and other work may overtake it now. waits: it cannot go on yet.
enum class Progress { done, again, waits };
using WorkStep = std::function<Progress()>;

struct NodeDetails;

struct Work {
  std::string name;
  WorkStep step;  // called without the lock until it is done; may throw Fault
  std::vector<TicketPointer> after = {};
  bool is_marker = false;  // takes no time of its own: a record of an event, or a wait for one
  std::shared_ptr<const NodeDetails> node = nullptr;  // what a graph with this work tells of it
};

/// Work so far, without markers.
struct WorkCount {
  std::uint64_t enqueued = 0, done = 0;
};

/// Work that runs in the order in which it was added: a stream's.
class Queue {
 public:
  Queue(int its_number, int of_device, bool blocking)
      : number(its_number), device(of_device), is_blocking(blocking) {}
  const int number;
  const int device;
  const bool is_blocking;  // its stream synchronises with the legacy default stream

  /// The ticket of the newest work, or null.
  const TicketPointer& last() const { return last_; }
  const WorkCount& count() const { return count_; }
  bool is_idle() const { return items_.empty(); }

 private:
  friend class Scheduler;
  struct Item {
    Work work;
    TicketPointer ticket;
    Clock::duration pause{};  // before the next attempt of work that waits
    Clock::time_point not_before{};
  };
  std::deque<Item> items_;
  TicketPointer last_;
  std::uint64_t pieces_ = 0;
  WorkCount count_;
  bool is_running_ = false;
};

/// Runs the work of all streams, one or more heads of queues at a time, in an order drawn from a
/// seed. Work runs in threads that wait for some of it, and without the runtime's lock, so that
/// other threads can go on. When the host neither waits nor enqueues for a while, a thread of its
/// own runs the work: a GPU does not wait for its host either.
class Scheduler {
 public:
  /// `report` is called with the lock, once for each fault.
  Scheduler(std::mutex& mutex, std::uint64_t seed, std::function<void(const Fault&)> report);
  /// Ends the thread. Work that runs is waited for only shortly: it may never end.
  void stop(Lock& lock);

  std::shared_ptr<Queue> make_queue(int device, bool is_blocking);
  /// Tickets of the newest work of each queue that `matches`, also of destroyed streams.
  std::vector<TicketPointer> newest(const std::function<bool(const Queue&)>& matches) const;
  TicketPointer enqueue(Queue& queue, Work work);
  /// Work on all queues of the queue's device but itself.
  WorkCount count_of_others(const Queue& queue, bool with_blocking = true) const;

  /// Runs work until `is_enough` holds or everything is abandoned, and sometimes some more.
  void run_until(Lock& lock, const std::function<bool()>& is_enough);
  /// Runs a few pieces of work, or none.
  void run_some(Lock& lock);
  /// Forgets all work: the context is lost.
  void abandon();

  /// The host has waited for this work, or was told that it is done.
  void know(const std::vector<TicketPointer>& tickets);
  /// Of the work that runs in the calling thread.
  static const WorkPosition& running_position();
  MemoryUses& memory_uses() { return memory_uses_; }

  std::mt19937_64& random() { return random_; }

 private:
  struct Choice {
    Queue* queue = nullptr;
    bool is_hopeless = false;  // nothing runs, waits or could run
  };
  Choice choose();
  void drop_ended_queues();
  void forget_what_all_know();
  void run_head(Lock& lock, Queue& queue);
  /// Runs one piece of work, or waits shortly for one. Returns false if there is none.
  bool run_one(Lock& lock);
  void run_in_background();

  std::mutex& mutex_;
  std::condition_variable changed_;
  std::function<void(const Fault&)> report_;
  std::mt19937_64 random_;
  std::vector<std::shared_ptr<Queue>> queues_;
  // By device, and of blocking streams: what those did that have ended.
  std::map<std::pair<int, bool>, std::shared_ptr<Queue>> ended_;
  Frontier host_;  // what comes before the work that the host enqueues now
  MemoryUses memory_uses_;
  int last_queue_ = 0;
  std::map<std::pair<int, bool>, WorkCount> counts_;  // by device, and of blocking queues
  Clock::time_point last_call_{};
  int waiting_hosts_ = 0;
  int running_ = 0;
  bool is_abandoned_ = false, has_thread_ = false, is_stopping_ = false;
};

}  // namespace emulator
