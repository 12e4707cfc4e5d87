#include "emulator/machine/mbarrier.h"

#include <fmt/format.h>

#include "emulator/machine/access.h"
#include "emulator/machine/block.h"
#include "emulator/machine/instructions/lanes.h"
#include "emulator/machine/instructions/mbarrier_object.h"
#include "emulator/machine/instructions/rows.h"

namespace emulator {

Target mbarrier_place(Warp& warp, ptx::Space space, int lane, std::uint64_t address) {
  const Target target = locate(warp, space, lane, address, 8, Access::write);
  if (target.space != ptx::Space::shared)
    warp.fault(FaultKind::illegal_address, lane,
               fmt::format("{:#x} is not in shared memory, where mbarrier objects are", address));
  if (target.owner != nullptr && space != ptx::Space::cluster)
    warp.fault(FaultKind::undefined, lane,
               "the mbarrier object is another block's, which takes .shared::cluster");
  return target;
}

Mbarrier& mbarrier_at(Warp& warp, ptx::Space space, int lane, std::uint64_t address) {
  const Target place = mbarrier_place(warp, space, lane, address);
  Block& owner = owner_of(warp, place);
  Mbarrier* found = owner.async().mbarrier(place.offset);
  if (found == nullptr)
    warp.fault(FaultKind::undefined, lane,
               fmt::format("there is no initialised mbarrier object at {:#x}", place.offset));
  owner.shared_races.read(warp, lane, place.offset, 8, true);
  return *found;
}

void start_at(Warp& warp, int lane, AsyncCopy copy, const Target& to, ptx::Space space,
              std::uint64_t barrier) {
  const Target place = mbarrier_place(warp, space, lane, barrier);
  if (place.owner != to.owner)
    warp.fault(
        FaultKind::undefined, lane,
        "the mbarrier object is not in the shared memory of the block to which the copy goes");
  copy.barrier = mbarrier_at(warp, space, lane, barrier).offset();
  copy.to = to.data;
  copy.to_written = to.written;
  copy.shared_to = to.offset;
  if (to.owner != nullptr) copy.starter = &warp.block().async();
  owner_of(warp, to).async().start(std::move(copy));
}

void check_mbarrier(Warp& warp, int lane, const Mbarrier& barrier, const char* problem) {
  if (problem == nullptr) return;
  warp.fault(FaultKind::undefined, lane,
             fmt::format("{}, of the mbarrier object at {:#x}", problem, barrier.offset()));
}

namespace {

std::uint64_t address_of(Warp& warp, const Code& code, int lane) {
  return lane_address(code, warp.at<std::byte>(code.a), lane);
}

Mbarrier& object(Warp& warp, const Code& code, int lane) {
  return mbarrier_at(warp, code.space, lane, address_of(warp, code, lane));
}

/// Lanes follow one another in an order that rotates, as none is promised.
template <class F>
void for_lanes_in_some_order(Warp& warp, Mask lanes, F f) {
  const auto first = static_cast<int>(warp.block().random().below(warp_lanes));
  for (int step = 0; step < warp_lanes; ++step)
    if (const int lane = (first + step) % warp_lanes; has_lane(lanes, lane)) f(lane);
}

/// Begins and ends an object's life: weak writes of its bytes, which no copy may use.
void begin_or_end(Warp& warp, int lane, std::uint64_t offset, bool begins) {
  Block& block = warp.block();
  AsyncCopies& async = block.async();
  if (begins) async.guards.check(warp, lane, offset, 8, true);
  const Target target{block.shared.bytes.data() + offset, block.shared.written.data() + offset,
                      ptx::Space::shared, offset};
  block.shared_races.write(warp, lane, offset, 8, false, {target, nullptr, 8});
}

void init(Warp& warp, const Code& code, Mask lanes) {
  const auto* counts = warp.at<std::uint32_t>(code.b);
  for_lanes_in_some_order(warp, lanes, [&](int lane) {
    const std::uint64_t offset =
        mbarrier_place(warp, code.space, lane, address_of(warp, code, lane)).offset;
    AsyncCopies& async = warp.block().async();
    if (async.mbarrier(offset) != nullptr)
      warp.fault(
          FaultKind::undefined, lane,
          fmt::format("the mbarrier object at {:#x} is initialised, and not invalidated", offset));
    if (counts[lane] == 0 || counts[lane] > Mbarrier::max_count)
      warp.fault(FaultKind::undefined, lane,
                 fmt::format("an mbarrier object expects 1 to {} arrivals, not {}",
                             Mbarrier::max_count, counts[lane]));
    begin_or_end(warp, lane, offset, true);
    async.init_mbarrier(offset, counts[lane]);
  });
}

void invalidate(Warp& warp, const Code& code, Mask lanes) {
  for_lanes_in_some_order(warp, lanes, [&](int lane) {
    const Mbarrier& barrier = object(warp, code, lane);
    check_mbarrier(
        warp, lane, barrier,
        AsyncCopies::is_awaited(barrier) ? "copies signal it that nobody has waited for" : nullptr);
    begin_or_end(warp, lane, barrier.offset(), false);
    warp.block().async().invalidate_mbarrier(barrier.offset());
  });
}

enum Arrival : unsigned char { arrives = 1, drops = 2, expects = 4, incomplete = 8 };

/// b: a count of arrivals or, if it expects, of bytes.
void arrive(Warp& warp, const Code& code, Mask lanes) {
  auto* d = warp.at<std::uint64_t>(code.d);
  const auto* counts = warp.at<std::uint32_t>(code.b);
  for_lanes_in_some_order(warp, lanes, [&](int lane) {
    Mbarrier& barrier = object(warp, code, lane);
    const auto check = [&](const char* problem) { check_mbarrier(warp, lane, barrier, problem); };
    const bool expects_bytes = (code.variant & expects) != 0;
    if (expects_bytes) check(barrier.expect_bytes(counts[lane]));
    if ((code.variant & arrives) == 0) return;
    const std::uint64_t state = barrier.state();
    if (code.order == Order::release) warp.order->release_to(warp, lane, barrier.released);
    const std::uint32_t count = expects_bytes ? 1 : counts[lane];
    const bool may_complete = (code.variant & incomplete) == 0;
    check((code.variant & drops) != 0 ? barrier.drop(count, may_complete)
                                      : barrier.arrive(count, may_complete));
    d[lane] = state;
  });
}

void complete_bytes(Warp& warp, const Code& code, Mask lanes) {
  const auto* counts = warp.at<std::uint32_t>(code.b);
  for_lanes_in_some_order(warp, lanes, [&](int lane) {
    Mbarrier& barrier = object(warp, code, lane);
    check_mbarrier(warp, lane, barrier, barrier.complete_bytes(counts[lane]));
  });
}

/// flag3: b is a parity of 32 bits, else a state of 64.
void wait(Warp& warp, const Code& code, Mask lanes) {
  Mask done = 0;
  for_lanes(lanes, [&](int lane) {
    Mbarrier& barrier = object(warp, code, lane);
    bool complete = false;
    if (code.flag3) {
      const std::uint32_t parity = warp.at<std::uint32_t>(code.b)[lane];
      if (parity > 1) check_mbarrier(warp, lane, barrier, "a parity is 0 or 1");
      complete = barrier.test_parity(parity);
    } else {
      check_mbarrier(warp, lane, barrier,
                     barrier.test(warp.at<std::uint64_t>(code.b)[lane], complete));
    }
    if (!complete) return;
    done |= Mask{1} << lane;
    warp.block().async().see_phase(barrier);
    if (code.order == Order::acquire) warp.order->acquire_from(warp, lane, barrier.completed);
  });
  Mask& d = warp.predicate(code.d);
  d = (d & ~lanes) | done;
  warp.wait_for_phase(code, lanes & ~done, done);
}

void pending_count(Warp& warp, const Code& code, Mask lanes) {
  auto* d = warp.at<std::uint32_t>(code.d);
  const auto* states = warp.at<std::uint64_t>(code.a);
  for_lanes(lanes, [=](int lane) { d[lane] = Mbarrier::pending_count(states[lane]); });
}

/// {.sem.scope}: `usual` without.
void take_order(Decoder& decoder, std::string_view name, Order order) {
  decoder.code.order = order;
  const bool relaxed = decoder.take("relaxed");
  const bool named = (name != "relaxed" && decoder.take(name)) || relaxed;
  if (relaxed) decoder.code.order = Order::relaxed;
  const bool scope = decoder.take("cta") || decoder.take("cluster");
  if (scope && !named) decoder.fail("a scope belongs to an order");
  if (named && !scope) decoder.fail("an order belongs to a scope");
  if (named) decoder.needs(90);
}

/// `may_be_remote`: of another block of the cluster.
void take_object(Decoder& decoder, std::size_t index, bool may_be_remote) {
  decoder.take_shared();
  if (decoder.code.space == ptx::Space::cluster && !may_be_remote)
    decoder.fail("the mbarrier object has to be the own block's");
  decoder.address(index);
}

void decode_arrive(Decoder& decoder, bool is_drop) {
  Code& code = decoder.code;
  code.variant = static_cast<unsigned char>(arrives | (is_drop ? drops : 0));
  if (decoder.take("expect_tx")) {
    decoder.needs(90);
    code.variant |= expects;
  }
  if (decoder.take("noComplete")) code.variant |= incomplete;
  take_order(decoder, "release", Order::release);
  take_object(decoder, 1, true);
  const bool needs_count = (code.variant & (expects | incomplete)) != 0;
  decoder.expect_operands(needs_count ? 3 : 2, 3);
  if (decoder.operands() == 3 && (code.variant & incomplete) == 0) decoder.needs(90);
  const bool is_sink = decoder.operand(0).kind == ptx::OperandKind::sink;
  if (is_sink && (code.variant & incomplete) != 0)
    decoder.fail("an arrival with .noComplete returns a state");
  if (!is_sink && code.space == ptx::Space::cluster)
    decoder.fail("an arrival at .shared::cluster returns no state");
  code.d = decoder.destination(0, ptx::Type::b64);
  code.b = decoder.operands() == 3 ? decoder.source(2, ptx::Type::u32) : decoder.constant(1, 4);
  decoder.emit(arrive);
}

void decode_bytes(Decoder& decoder, Code::Run run) {
  decoder.needs(90);
  take_order(decoder, "relaxed", Order::relaxed);
  take_object(decoder, 0, true);
  decoder.expect_operands(2);
  decoder.code.b = decoder.source(1, ptx::Type::u32);
  decoder.code.variant = expects;
  decoder.emit(run);
}

void decode_wait(Decoder& decoder, bool tries) {
  Code& code = decoder.code;
  if (tries) decoder.needs(90);
  code.flag3 = decoder.take("parity");
  take_order(decoder, "acquire", Order::acquire);
  take_object(decoder, 1, false);
  decoder.expect_operands(3, tries ? 4 : 3);
  code.d = decoder.destination(0, ptx::Type::pred);
  code.b = decoder.source(2, code.flag3 ? ptx::Type::u32 : ptx::Type::b64);
  if (decoder.operands() == 4) decoder.source(3, ptx::Type::u32);  // how long it may sleep
  decoder.emit(wait);
}

void decode_mbarrier(Decoder& decoder) {
  decoder.needs(80);
  if (decoder.type() != ptx::Type::b64) decoder.fail("an mbarrier object is a .b64");
  if (decoder.take("arrive")) return decode_arrive(decoder, false);
  if (decoder.take("arrive_drop")) return decode_arrive(decoder, true);
  if (decoder.take("expect_tx")) return decode_bytes(decoder, arrive);
  if (decoder.take("complete_tx")) return decode_bytes(decoder, complete_bytes);
  if (decoder.take("test_wait")) return decode_wait(decoder, false);
  if (decoder.take("try_wait")) return decode_wait(decoder, true);
  if (decoder.take("pending_count")) {
    decoder.expect_operands(2);
    decoder.code.d = decoder.destination(0, ptx::Type::u32);
    decoder.code.a = decoder.source(1, ptx::Type::b64);
    return decoder.emit(pending_count);
  }
  const bool begins = decoder.take("init");
  if (!begins) decoder.expect("inval");
  take_object(decoder, 0, false);
  decoder.expect_operands(begins ? 2 : 1);
  if (!begins) return decoder.emit(invalidate);
  decoder.code.b = decoder.source(1, ptx::Type::u32);
  decoder.emit(init);
}

const Opcodes opcodes{{"mbarrier", decode_mbarrier}};

}  // namespace
}  // namespace emulator
