#include "emulator/runtime/scheduler.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include "emulator/runtime/say.h"

namespace emulator {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// The host's silence after which work starts by itself.
constexpr milliseconds patience{100};
constexpr microseconds first_pause{20};
constexpr microseconds longest_pause{2000};

thread_local const WorkPosition* running = nullptr;

}  // namespace

Scheduler::Scheduler(std::mutex& mutex, std::uint64_t seed,
                     std::function<void(const Fault&)> report)
    : mutex_(mutex), report_(std::move(report)), random_(seed) {}

std::shared_ptr<Queue> Scheduler::make_queue(int device, bool is_blocking) {
  return queues_.emplace_back(std::make_shared<Queue>(++last_queue_, device, is_blocking));
}

std::vector<TicketPointer> Scheduler::newest(
    const std::function<bool(const Queue&)>& matches) const {
  std::vector<TicketPointer> found;
  for (const std::shared_ptr<Queue>& queue : queues_) {
    if (queue->last_ != nullptr && matches(*queue)) found.push_back(queue->last_);
  }
  for (const auto& [of, queue] : ended_) {
    if (matches(*queue)) found.push_back(queue->last_);
  }
  return found;
}

TicketPointer Scheduler::enqueue(Queue& queue, Work work) {
  auto ticket = std::make_shared<Ticket>();
  if (is_abandoned_) return ticket;
  ticket->position = {queue.number, ++queue.pieces_, host_};
  Frontier& before = ticket->position.before;
  if (queue.last_ != nullptr) before.join(queue.last_->position.before);
  for (const TicketPointer& other : work.after)
    if (other != nullptr) before.join(other->position.before);
  before.set(queue.number, queue.pieces_);
  std::erase_if(work.after, [](const TicketPointer& t) { return t == nullptr || t->is_done; });
  if (!work.is_marker) {
    ++queue.count_.enqueued;
    ++counts_[{queue.device, queue.is_blocking}].enqueued;
  }
  queue.items_.push_back({std::move(work), ticket});
  queue.last_ = ticket;
  last_call_ = Clock::now();
  if (!has_thread_) {
    has_thread_ = true;
    std::thread([this] { run_in_background(); }).detach();
  }
  return ticket;
}

WorkCount Scheduler::count_of_others(const Queue& queue, bool with_blocking) const {
  WorkCount sum;
  for (const auto& [of, count] : counts_) {
    const auto& [device, is_blocking] = of;
    if (device != queue.device || (is_blocking && !with_blocking)) continue;
    sum.enqueued += count.enqueued;
    sum.done += count.done;
  }
  return {sum.enqueued - queue.count_.enqueued, sum.done - queue.count_.done};
}

Scheduler::Choice Scheduler::choose() {
  Choice choice{.is_hopeless = running_ == 0};
  const Clock::time_point now = Clock::now();
  std::uint64_t candidates = 0;
  drop_ended_queues();
  for (const std::shared_ptr<Queue>& queue : queues_) {
    if (queue->is_running_ || queue->items_.empty()) continue;
    const Queue::Item& head = queue->items_.front();
    const bool is_free =
        std::ranges::all_of(head.work.after, [](const TicketPointer& t) { return t->is_done; });
    if (!is_free) continue;
    choice.is_hopeless = false;
    if (head.not_before > now) continue;
    // Each candidate is taken with the same probability, without a list of them.
    if (random_() % ++candidates == 0) choice.queue = queue.get();
  }
  return choice;
}

/// A stream that was destroyed, and has done all its work, is of no use any more.
void Scheduler::drop_ended_queues() {
  std::erase_if(queues_, [&](const std::shared_ptr<Queue>& queue) {
    if (queue.use_count() != 1 || !queue->items_.empty() || queue->is_running_) return false;
    if (queue->last_ == nullptr) return true;
    std::shared_ptr<Queue>& sum = ended_[{queue->device, queue->is_blocking}];
    if (sum == nullptr) {
      sum = std::make_shared<Queue>(0, queue->device, queue->is_blocking);
      sum->last_ = std::make_shared<Ticket>(Ticket{.is_done = true});
    }
    sum->last_->position.before.join(queue->last_->position.before);
    return true;
  });
}

const WorkPosition& Scheduler::running_position() {
  static const WorkPosition none;
  return running == nullptr ? none : *running;
}

void Scheduler::know(const std::vector<TicketPointer>& tickets) {
  for (const TicketPointer& ticket : tickets)
    if (ticket != nullptr) host_.join(ticket->position.before);
  forget_what_all_know();
}

/// Keeps what is remembered small: after all work is done and the host knows it, nothing that
/// comes can race with it.
void Scheduler::forget_what_all_know() {
  const auto is_known = [&](const Queue& queue) {
    return queue.items_.empty() && !queue.is_running_ &&
           (queue.last_ == nullptr || host_.has(queue.last_->position.before));
  };
  for (const std::shared_ptr<Queue>& queue : queues_)
    if (!is_known(*queue)) return;
  for (const auto& [of, queue] : ended_)
    if (!is_known(*queue)) return;
  for (const std::shared_ptr<Queue>& queue : queues_)
    if (queue->last_ != nullptr) queue->last_->position.before.clear();
  ended_.clear();
  host_.clear();
  memory_uses_.forget();
}

void Scheduler::run_head(Lock& lock, Queue& queue) {
  const auto kept = std::find_if(queues_.begin(), queues_.end(),
                                 [&](const auto& q) { return q.get() == &queue; });
  const std::shared_ptr<Queue> alive = *kept;
  Queue::Item item = std::move(queue.items_.front());
  queue.is_running_ = true;
  ++running_;
  lock.unlock();
  Progress progress = Progress::done;
  std::unique_ptr<Fault> fault;
  running = &item.ticket->position;
  try {
    progress = item.work.step();
    if (progress == Progress::done) item.work.step = nullptr;  // its destructors run unlocked too
  } catch (const Fault& f) {
    fault = std::make_unique<Fault>(f);
  } catch (const std::exception& e) {
    // The emulator's own error: nothing that a GPU would do.
    give_up(item.work.name + ": " + e.what());
  }
  running = nullptr;
  lock.lock();
  --running_;
  queue.is_running_ = false;
  if (fault != nullptr) report_(*fault);
  changed_.notify_all();
  if (is_abandoned_) return;
  if (progress == Progress::done) {
    item.ticket->is_done = true;
    item.ticket->done_at = Clock::now();
    if (!item.work.is_marker) {
      ++queue.count_.done;
      ++counts_[{queue.device, queue.is_blocking}].done;
    }
    queue.items_.pop_front();
    return;
  }
  if (progress == Progress::waits) {
    item.pause = std::clamp<Clock::duration>(2 * item.pause, first_pause, longest_pause);
    item.not_before = Clock::now() + item.pause;
  } else {
    item.pause = {};
  }
  queue.items_.front() = std::move(item);
}

bool Scheduler::run_one(Lock& lock) {
  const Choice choice = choose();
  if (choice.queue != nullptr) {
    run_head(lock, *choice.queue);
  } else if (!choice.is_hopeless) {
    changed_.wait_for(lock, microseconds(50));
  }
  return !choice.is_hopeless;
}

void Scheduler::run_until(Lock& lock, const std::function<bool()>& is_enough) {
  ++waiting_hosts_;
  while (!is_abandoned_ && !is_enough()) {
    if (run_one(lock)) continue;
    give_up("the host waits for work that nothing can start");
  }
  --waiting_hosts_;
  last_call_ = Clock::now();
  run_some(lock);
}

void Scheduler::run_some(Lock& lock) {
  for (std::uint64_t n = random_() % 4; n > 0 && !is_abandoned_; --n) {
    const Choice choice = choose();
    if (choice.queue == nullptr) return;
    run_head(lock, *choice.queue);
  }
}

void Scheduler::abandon() {
  is_abandoned_ = true;
  // Running work keeps its own item, and sees that there is no queue to put it back to.
  for (const std::shared_ptr<Queue>& queue : queues_) queue->items_.clear();
  changed_.notify_all();
}

void Scheduler::run_in_background() {
  Lock lock(mutex_);
  while (!is_stopping_) {
    changed_.wait_for(lock, patience / 4);
    while (!is_stopping_ && !is_abandoned_ && waiting_hosts_ == 0 &&
           Clock::now() - last_call_ > patience) {
      const Choice choice = choose();
      if (choice.queue == nullptr) break;
      run_head(lock, *choice.queue);
    }
  }
  has_thread_ = false;
  changed_.notify_all();
}

void Scheduler::stop(Lock& lock) {
  is_stopping_ = true;
  changed_.notify_all();
  changed_.wait_for(lock, std::chrono::seconds(1), [&] { return !has_thread_; });
}

}  // namespace emulator
