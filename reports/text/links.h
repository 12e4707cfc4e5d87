#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/records/record.h"

namespace assay {

/// A transfer between two devices or ranks.
struct Link {
  std::string from;  // "cuda:2", "rank 2"
  std::string to;
  bool both_ways = false;
  double bytes_per_s = 0;
  std::size_t trial = 0;  // index into the trials

  std::string name() const { return from + (both_ways ? "<>" : ">") + to; }
};

/// The same transfer between every pair of devices or ranks.
struct Links {
  std::string what;  // "collectives/send_recv_pair/f32 ranks=4;count=1048576"
  std::vector<Link> all;
  double median_bytes_per_s = 0;

  const Link& slowest() const;
};

/// Finds the transfers that were timed on at least three pairs: fewer have no usual speed.
std::vector<Links> links_of(std::span<const Record> trials);

/// Names the slowest pair of each: "slowest of 12 links, ...: rank 2>rank 5, 1.20 GB/s, 0.25 of the
/// median". A line each.
std::string slowest_links(std::span<const Record> trials);

}  // namespace assay
