#include <utility>

#include "suites/suite.h"

namespace assay {
namespace {

using enum Level;

constexpr std::int64_t kib = 1 << 10;
constexpr std::int64_t mib = 1 << 20;
const Axis from = axis("from", {{seeds, "host"}});
const Axis to = axis("to", {{seeds, "host"}});
const Axis threads = axis("threads", {{seeds, "one"}, {seeds, "all"}});
const Axis bytes = axis("bytes", {{seeds, 4},
                                  {seeds, 4 * kib},
                                  {standard, 16 * kib},
                                  {smoke, 64 * kib},
                                  {standard, 256 * kib},
                                  {smoke, mib},
                                  {standard, 4 * mib},
                                  {smoke, 16 * mib + 1},  // ends within a vector, a line, a page
                                  {standard, 64 * mib},
                                  {standard, 256 * mib},
                                  {full, 1024 * mib}});
const Axis normal = axis("pages", {{seeds, "normal"}});
const Axis huge = axis("pages", {{smoke, "huge"}});
const Axis huge_bytes =
    axis("bytes", {{smoke, 16 * mib + 1}, {standard, 256 * mib}, {full, 1024 * mib}});
const Axis rows{{"rows", "width", "pitch"},
                {{seeds, {3, 5, 8}},
                 {seeds, {61, 1003, 1024}},
                 {standard, {16381, 4000, 4096}},
                 {full, {65536, 8191, 16384}}}};
const Axis by = axis("by", {{seeds, "engine"}, {seeds, "kernel"}});
const Axis device_ends{{"from", "to"},
                       {{seeds, {"pinned", "device"}},
                        {seeds, {"device", "pinned"}},
                        {seeds, {"device", "device"}},
                        {smoke, {"pageable", "device"}},
                        {smoke, {"device", "pageable"}}}};
const Axis one_way = axis("ways", {{seeds, "one"}});
const Axis both_ways = axis("ways", {{smoke, "both"}});
const Axis any_ways = axis("ways", {{seeds, "one"}, {seeds, "both"}});
const Axis to_device{{"from", "to"}, {{smoke, {"pinned", "device"}}}};
const Axis access = axis("access", {{seeds, "direct"}, {smoke, "staged"}});

/// Large enough that latency is a small part of its time.
const Axis bytes_of_each_pair = axis("bytes", {{smoke, 16 * mib + 1}});
const Axis by_engine = axis("by", {{smoke, "engine"}});
const Axis direct = axis("access", {{smoke, "direct"}});

std::vector<Grid> edge_grids() {
  const Axis many_bytes = axis("bytes", {{seeds, over_2_32}});
  const Axis far_apart{{"rows", "width", "pitch"}, {{seeds, {wide, 3, tall}}}};
  return {{{"memcpy"}, {DType::u8}, {from, to, many_bytes, threads, normal}},
          {{"memcpy_2d"}, {DType::u8}, {from, to, far_apart, threads}},
          {{"device_memcpy"}, {DType::u8}, {device_ends, many_bytes, by, one_way}},
          {{"peer_memcpy"}, {DType::u8}, {many_bytes, by, access, one_way}}};
}

}  // namespace

Suite transfers_suite() {
  std::vector<Grid> grids{{{"memcpy"}, {DType::u8}, {from, to, bytes, threads, normal}},
                          {{"memcpy"}, {DType::u8}, {from, to, huge_bytes, threads, huge}},
                          {{"memcpy_2d"}, {DType::u8}, {from, to, rows, threads}},
                          {{"device_memcpy"}, {DType::u8}, {device_ends, bytes, by, one_way}},
                          {{"device_memcpy"}, {DType::u8}, {to_device, bytes, by, both_ways}},
                          {{"peer_memcpy"}, {DType::u8}, {bytes, by, access, any_ways}}};
  grids.push_back({.ops = {"peer_memcpy"},
                   .formats = {DType::u8},
                   .axes = {bytes_of_each_pair, by_engine, direct, one_way},
                   .of_each_pair = true});
  return {.order = 4,
          .name = "transfers",
          .description = "copies between memories, checked byte for byte",
          .grids = with_edges(std::move(grids), edge_grids())};
}

}  // namespace assay
