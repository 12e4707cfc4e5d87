#include "harness/placement/data_parallel.h"

#include <algorithm>
#include <future>

namespace assay::placement {

std::vector<Tensor> scatter(const Tensor& batch, std::span<Place* const> places) {
  const std::int64_t rows = batch.shape().at(0);
  const std::int64_t part = (rows + std::ssize(places) - 1) / std::ssize(places);
  std::vector<Tensor> parts;
  for (std::int64_t first = 0; first < rows; first += part) {
    Place& place = *places[parts.size()];
    parts.push_back(batch.slice(0, first, std::min(part, rows - first)).to(place));
  }
  return parts;
}

Tensor gather(std::span<const Tensor> parts, Place& place) {
  Shape shape = parts.front().shape();
  shape.at(0) = 0;
  for (const Tensor& part : parts) shape[0] += part.shape().at(0);
  Tensor whole(place, parts.front().dtype(), shape);
  std::int64_t first = 0;
  for (const Tensor& part : parts) {
    whole.slice(0, first, part.shape()[0]).copy_from(part);
    first += part.shape()[0];
  }
  return whole;
}

Tensor data_parallel(const Module& module, const Tensor& batch, std::span<Place* const> places) {
  const std::vector<Tensor> parts = scatter(batch, places);
  std::vector<std::unique_ptr<Module>> replicas;
  for (const Tensor& part : parts) replicas.push_back(module.replica(part.place()));
  std::vector<std::future<Tensor>> running;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    running.push_back(
        std::async(std::launch::async, [&, i] { return replicas[i]->forward(parts[i]); }));
  }
  std::vector<Tensor> outputs;
  for (auto& output : running) outputs.push_back(output.get());  // rethrows
  return gather(outputs, *places.front());
}

}  // namespace assay::placement
