#include "kernels/remote/peer.h"

#include <utility>

namespace assay::remote {

std::vector<std::byte> Peer::hear() {
  std::vector<std::byte> answer;
  if (!own_) {
    answer = job_.receive(rank_);
    done_ = questions_.front();
    questions_.pop_front();
  } else {
    answer = std::move(answers_.front());
    answers_.pop_front();
  }
  Reader reader(answer);
  if (reader.get<bool>()) {
    const auto failure = reader.get<Failure>();
    throw DeviceError(failure, reader.text());
  }
  const auto results = reader.rest();
  return {results.begin(), results.end()};
}

}  // namespace assay::remote
