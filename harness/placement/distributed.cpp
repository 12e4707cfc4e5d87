#include "harness/placement/distributed.h"

#include <fmt/format.h>

#include <utility>

#include "harness/placement/apply.h"
#include "harness/placement/error.h"
#include "kernels/device/backend.h"

namespace assay::placement {

std::vector<std::int64_t> shard(std::int64_t samples, int rank, int ranks) {
  std::vector<std::int64_t> indices;
  for (std::int64_t sample = rank; sample < samples; sample += ranks) indices.push_back(sample);
  return indices;
}

Tensor rows_of(const Tensor& samples, std::span<const std::int64_t> indices) {
  Tensor chosen(samples.place(), DType::i64, {std::ssize(indices)});
  chosen.write(std::as_bytes(indices));
  Params params;
  params.set("rows", samples.shape().at(0));
  params.set("cols", samples.shape().at(1));
  params.set("count", std::ssize(indices));
  return apply("gather", params, {samples, chosen});
}

Tensor weight_gradient(const Tensor& x, const Tensor& g) {
  Params params;
  params.set("batch", x.shape().at(0));
  params.set("in", x.shape().at(1));
  params.set("out", g.shape().at(1));
  return apply("linear_dw", params, {g, x});
}

Group::Group(std::vector<Place*> places, Bootstrap& bootstrap) : places_(std::move(places)) {
  std::vector<Device*> devices;
  for (const Place* place : places_) devices.push_back(&place->device());
  Place& first = *places_.front();
  communicator_ = first.devices()
                      .backend(first.id().backend)
                      ->connect(devices, static_cast<int>(places_.size()), bootstrap);
}

std::vector<Tensor> Group::broadcast(const Tensor& of_rank_0) const {
  std::vector<Tensor> all;
  for (Place* place : places_) all.push_back(of_rank_0.to(*place));
  return all;
}

std::vector<Tensor> Group::average(std::span<const Tensor> tensors) const {
  Params params;
  params.set("reduce", std::string("avg"));
  params.set("ranks", static_cast<std::int64_t>(places_.size()));
  params.set("count", tensors.front().elements());
  const OpInstance op = instantiate(*find_op("allreduce"), tensors.front().dtype(), params);
  for (std::size_t rank = 0; rank < places_.size(); ++rank) {
    if (holds(*places_[rank], tensors[rank]) && tensors[rank].is_dense()) continue;
    throw PlacementError(fmt::format(
        "allreduce: the tensor of rank {} is on {}, or not dense; it should be dense on {}", rank,
        tensors[rank].place().text(), places_[rank]->text()));
  }
  std::vector<Tensor> averages;
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<Binding> bindings;
  for (std::size_t rank = 0; rank < places_.size(); ++rank) {
    averages.emplace_back(*places_[rank], tensors[rank].dtype(), tensors[rank].shape());
    streams.push_back(places_[rank]->device().create_stream());
    bindings.push_back({streams.back().get(), {tensors[rank].data()}, {averages.back().data()}});
  }
  const auto kernel = communicator_->prepare(op, bindings);
  kernel->launch();
  for (const auto& stream : streams) stream->synchronize();
  places_.front()->devices().note(*kernel, communicator_->transport());
  return averages;
}

}  // namespace assay::placement
