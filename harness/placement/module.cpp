#include "harness/placement/module.h"

#include "harness/placement/apply.h"

namespace assay::placement {

Module& Module::to(Place& place) {
  for (Tensor* parameter : parameters()) *parameter = parameter->to(place);
  return *this;
}

Tensor Linear::forward(const Tensor& x) const {
  Params params;
  params.set("batch", x.shape().at(0));
  params.set("in", weight_.shape().at(1));
  params.set("out", weight_.shape().at(0));
  params.set("bias", std::int64_t{bias_ ? 1 : 0});
  params.set("act", activation_);
  if (bias_) return apply("linear", params, {x, weight_, *bias_});
  return apply("linear", params, {x, weight_});
}

std::vector<Tensor*> Linear::parameters() {
  std::vector<Tensor*> all{&weight_};
  if (bias_) all.push_back(&*bias_);
  return all;
}

std::unique_ptr<Module> Linear::replica(Place& place) const {
  std::optional<Tensor> bias;
  if (bias_) bias = bias_->to(place);
  return std::make_unique<Linear>(weight_.to(place), std::move(bias), activation_);
}

Tensor Sequential::forward(const Tensor& x) const {
  Tensor y = x;
  for (const auto& module : modules_) y = module->forward(y);
  return y;
}

std::vector<Tensor*> Sequential::parameters() {
  std::vector<Tensor*> all;
  for (const auto& module : modules_) {
    const std::vector<Tensor*> own = module->parameters();
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

std::unique_ptr<Module> Sequential::replica(Place& place) const {
  std::vector<std::unique_ptr<Module>> replicas;
  for (const auto& module : modules_) replicas.push_back(module->replica(place));
  return std::make_unique<Sequential>(std::move(replicas));
}

}  // namespace assay::placement
