#include "kernels/remote/collective.h"

#include <algorithm>
#include <utility>

namespace assay::remote {
namespace {

/// Some processes of a job, ordered by their ranks in the group.
class Members final : public Bootstrap {
 public:
  Members(ProcessGroup& group, std::vector<int> members)
      : group_(group), members_(std::move(members)) {}
  int rank() const override {
    return static_cast<int>(std::ranges::find(members_, group_.rank()) - members_.begin());
  }
  int size() const override { return static_cast<int>(members_.size()); }
  void broadcast(std::span<std::byte> bytes, int root) override {
    std::vector<int> from_root = members_;
    std::swap(from_root.front(), from_root.at(static_cast<std::size_t>(root)));
    group_.broadcast(from_root, bytes);
  }
  std::string library() const override { return group_.library(); }
  std::string transport() const override { return group_.transport(); }
  void run(const CollectiveCall& call) override { group_.run(members_, call); }

 private:
  ProcessGroup& group_;
  std::vector<int> members_;
};

/// A backend's communicator with its bootstrap, which must live as long.
class MemberCommunicator final : public Communicator {
 public:
  MemberCommunicator(ProcessGroup& group, Backend& backend, Device& device,
                     std::vector<int> members)
      : members_(group, std::move(members)) {
    Device* own = &device;
    communicator_ = backend.connect(std::span(&own, 1), members_.size(), members_);
  }
  std::string transport() const override { return communicator_->transport(); }
  std::unique_ptr<Kernel> prepare(const OpInstance& op,
                                  std::span<const Binding> bindings) override {
    return communicator_->prepare(op, bindings);
  }

 private:
  Members members_;
  std::unique_ptr<Communicator> communicator_;
};

}  // namespace

std::unique_ptr<Communicator> connect(ProcessGroup& group, Backend& backend, Device& device,
                                      std::vector<int> members) {
  return std::make_unique<MemberCommunicator>(group, backend, device, std::move(members));
}

}  // namespace assay::remote
