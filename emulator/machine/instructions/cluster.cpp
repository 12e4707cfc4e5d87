#include "emulator/machine/instructions/cluster.h"

#include <fmt/format.h>

#include "emulator/machine/address_windows.h"
#include "emulator/machine/block.h"
#include "emulator/machine/cluster.h"
#include "emulator/machine/cluster_addresses.h"
#include "emulator/machine/instructions/lanes.h"
#include "emulator/machine/instructions/rows.h"

// Clusters of blocks: their barrier, and the addresses of their shared memory.
namespace emulator {
namespace {

namespace addresses = cluster_addresses;

/// Where an address lies within the shared memory of some block of the cluster. flag: the address
/// is within shared memory; else it is generic. Throws LaneFault.
std::uint64_t shared_place(Warp& warp, const Code& code, int lane, std::uint64_t address) {
  if (code.flag) return address;
  const AddressWindows& windows = address_windows();
  if (windows.space_of(address) != ptx::Space::shared)
    warp.fault(FaultKind::illegal_address, lane,
               fmt::format("{:#x} is no address of shared memory", address));
  return address - windows.base_of(ptx::Space::shared);
}

/// b: the rank of a block.
template <class T>
void map_address(Warp& warp, const Code& code, Mask lanes) {
  T* d = warp.at<T>(code.d);
  const T* a = warp.at<T>(code.a);
  const auto* ranks = warp.at<std::uint32_t>(code.b);
  const auto blocks = static_cast<std::uint32_t>(warp.block().cluster().size());
  for_lanes(lanes, [&](int lane) {
    if (ranks[lane] >= blocks)
      warp.fault(
          FaultKind::undefined, lane,
          fmt::format("there is no block {} in the cluster, which has {}", ranks[lane], blocks));
    const std::uint64_t address = a[lane] + static_cast<std::uint64_t>(code.offset);
    const std::uint64_t place = shared_place(warp, code, lane, static_cast<T>(address));
    const std::uint64_t mapped = addresses::mapped(addresses::offset_of(place), ranks[lane]);
    d[lane] = static_cast<T>(mapped + static_cast<T>(address) - place);
  });
}

template <class T>
void rank_of_address(Warp& warp, const Code& code, Mask lanes) {
  auto* d = warp.at<std::uint32_t>(code.d);
  const T* a = warp.at<T>(code.a);
  std::uint32_t results[warp_lanes];
  for_lanes(lanes, [&](int lane) {
    const std::uint64_t place = shared_place(warp, code, lane, a[lane]);
    results[lane] = addresses::is_mapped(place)
                        ? static_cast<std::uint32_t>(addresses::rank_of(place))
                        : static_cast<std::uint32_t>(warp.order->rank());
  });
  for_lanes(lanes, [&](int lane) { d[lane] = results[lane]; });
}

/// A register, or a variable of shared memory plus an offset.
Place take_address(Decoder& decoder, ptx::Type type) {
  const ptx::Operand& from = decoder.operand(1);
  if (from.kind != ptx::OperandKind::symbol) return decoder.source(1, type);
  const SymbolAddress symbol = decoder.layout().symbol(from.name, decoder.instruction().line);
  if (symbol.space != ptx::Space::shared)
    decoder.fail(fmt::format("'{}' is not in shared memory", from.name));
  return decoder.layout().address_of(symbol, from.name, from.offset, ptx::bytes_of(type));
}

ptx::Type take_address_type(Decoder& decoder) {
  decoder.needs(90);
  decoder.code.flag = decoder.take("shared::cluster");
  const ptx::Type type = decoder.type();
  if (type != ptx::Type::u32 && type != ptx::Type::u64) decoder.fail_type(type);
  return type;
}

void decode_mapa(Decoder& decoder) {
  const ptx::Type type = take_address_type(decoder);
  decoder.expect_operands(3);
  decoder.code.d = decoder.destination(0, type);
  decoder.code.a = take_address(decoder, type);
  decoder.code.b = decoder.source(2, ptx::Type::u32);
  const bool is_wide = type == ptx::Type::u64;
  decoder.emit(is_wide ? map_address<std::uint64_t> : map_address<std::uint32_t>);
}

void decode_getctarank(Decoder& decoder) {
  const ptx::Type type = take_address_type(decoder);
  decoder.expect_operands(2);
  decoder.code.d = decoder.destination(0, ptx::Type::u32);
  decoder.code.a = take_address(decoder, type);
  const bool is_wide = type == ptx::Type::u64;
  decoder.emit(is_wide ? rank_of_address<std::uint64_t> : rank_of_address<std::uint32_t>);
}

// --- barrier.cluster. flag2: .relaxed; flag3: .aligned.

/// Whether all threads of the warp are here; if not, they come again.
bool are_aligned(Warp& warp, const Code& code, Mask lanes) {
  return !code.flag3 || warp.gather(code, lanes, all_lanes);
}

void arrive(Warp& warp, const Code& code, Mask lanes) {
  if (!are_aligned(warp, code, lanes)) return;
  // A fence before a relaxed arrival releases.
  const Mask releasing = code.flag2 ? lanes & (warp.widely_fenced | warp.fenced_inits) : lanes;
  Cluster& cluster = warp.block().cluster();
  if (releasing != 0) cluster.arrive(warp, releasing, true);
  if (lanes != releasing) cluster.arrive(warp, lanes & ~releasing, false);
}

void wait(Warp& warp, const Code& code, Mask lanes) {
  if (!are_aligned(warp, code, lanes)) return;
  const Mask waiting = lanes & ~warp.block().cluster().pass(warp, lanes);
  if (waiting != 0) warp.wait_for_cluster(code, waiting);
}

const Opcodes opcodes{{"mapa", decode_mapa}, {"getctarank", decode_getctarank}};

}  // namespace

void decode_cluster_barrier(Decoder& decoder) {
  decoder.needs(90);
  const bool arrives = decoder.take("arrive");
  if (arrives) {
    if (!decoder.take("release")) decoder.code.flag2 = decoder.take("relaxed");
  } else {
    decoder.expect("wait");
    decoder.take("acquire");
  }
  decoder.code.flag3 = decoder.take("aligned");
  decoder.expect_operands(0);
  decoder.emit(arrives ? arrive : wait);
}

}  // namespace emulator
