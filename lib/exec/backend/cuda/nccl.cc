#include "exec/backend/cuda/nccl.h"

#ifdef GT_CUDA_NCCL

#include <algorithm>
#include <atomic>
#include <list>
#include <optional>
#include <utility>

#include "base/hex.h"

namespace gt::exec::cuda {
namespace {

// Returns NCCL's name for the float types, the only ones that gt lets it add.
std::optional<ncclDataType_t> nccl_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF16:
      return ncclFloat16;
    case Dtype::kBf16:
      return ncclBfloat16;
    case Dtype::kF32:
      return ncclFloat32;
    case Dtype::kF64:
      return ncclFloat64;
    default:
      return std::nullopt;
  }
}

// Returns a place where NCCL writes the communicator that a split makes. NCCL
// does so on a thread of its own and, if the split was given up, perhaps late,
// so the places are never freed.
ncclComm_t& place_of_child() {
  static std::list<ncclComm_t> places;
  return places.emplace_back(nullptr);
}

class NcclLink final : public DeviceLink {
 public:
  NcclLink(std::shared_ptr<Gpu> gpu, CUstream stream, const Nccl& api,
           std::string kind, std::string device)
      : gpu_(std::move(gpu)),
        stream_(stream),
        api_(api),
        kind_(std::move(kind)),
        device_(std::move(device)),
        reached_(gpu_) {}
  ~NcclLink() override { cancel(); }

  std::string kind() const override { return kind_; }
  std::string device() const override { return device_; }
  Result<std::string> make_id() override;
  Status join(std::string_view id, std::span<const std::string> devices,
              unsigned member) override;
  Status move(std::span<const Move> sends,
              std::span<const Move> receives) override;
  Result<bool> is_done() override;
  void cancel() override;
  Status leave() override;
  bool adds() const override { return true; }
  Status split(std::span<const unsigned> group) override;
  Status add(const Sum& sum) override;

 private:
  enum class Phase : uint8_t {
    kIdle,
    kJoins,
    kSplits,
    kGives,  // NCCL has not given the group to the stream yet
    kMoves,  // the stream has not reached the event behind the group
    kLeaves,
  };
  ncclComm_t comm() const { return comms_[busy_]; }
  Status check(ncclResult_t result, const char* call) const;
  Status check_comm(bool& is_ready) const;
  bool take_child();
  Result<bool> leave_next();
  void abort(ncclComm_t& comm) const;
  Status add_moves(std::span<const Move> sends,
                   std::span<const Move> receives) const;
  Status add_sum(const Sum& sum, ncclDataType_t type) const;
  // Makes the calls of one communicator as a group, which NCCL then gives to
  // the stream.
  template <typename Calls>
  Status group(size_t comm, const Calls& calls);

  std::shared_ptr<Gpu> gpu_;
  CUstream stream_;
  Nccl api_;
  std::string kind_, device_;
  // The communicator of all members, followed by that of each split, or null
  // where this member is not in the split. Empty before join().
  std::vector<ncclComm_t> comms_;
  // The communicator of the operation that began last.
  size_t busy_ = 0;
  // Where NCCL writes the communicator of the split that is under way.
  ncclComm_t* child_ = nullptr;
  int member_ = 0;
  CudaEvent reached_;
  Phase phase_ = Phase::kIdle;
};

// A call that is still in progress is no failure.
Status NcclLink::check(ncclResult_t result, const char* call) const {
  if (result == ncclSuccess || result == ncclInProgress) return ok_status();
  std::string text = api_.ncclGetErrorString(result);
  const char* last = api_.ncclGetLastError(comms_.empty() ? nullptr : comm());
  if (last != nullptr && *last != '\0') text += " (" + std::string(last) + ")";
  return Error{std::string(call) + ": " + text};
}

Result<std::string> NcclLink::make_id() {
  ncclUniqueId id;
  if (Status s = gpu_->enter(); !s.ok()) return s.error();
  const Status s = check(api_.ncclGetUniqueId(&id), "ncclGetUniqueId");
  if (!s.ok()) return s.error();
  return to_hex({id.internal, sizeof id.internal});
}

Status NcclLink::join(std::string_view id, std::span<const std::string> devices,
                      unsigned member) {
  ncclUniqueId word;
  if (!from_hex(id, word.internal)) {
    return Error{"an id of NCCL's that cannot be"};
  }
  if (Status s = gpu_->enter(); !s.ok()) return s;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  phase_ = Phase::kJoins;
  member_ = static_cast<int>(member);
  ncclComm_t all = nullptr;
  const ncclResult_t joined = api_.ncclCommInitRankConfig(
      &all, static_cast<int>(devices.size()), word, member_, &config);
  if (all != nullptr) comms_ = {all};
  return check(joined, "ncclCommInitRankConfig");
}

// The communicators of groups have the configuration of the whole one. They
// share no resources with it, except for memory if
// NCCL_COMM_SPLIT_SHARE_RESOURCES says so.
Status NcclLink::split(std::span<const unsigned> group) {
  if (Status s = gpu_->enter(); !s.ok()) return s;
  phase_ = Phase::kSplits;
  busy_ = 0;
  child_ = group.empty() ? nullptr : &place_of_child();
  ncclComm_t none = nullptr;
  const int color =
      group.empty() ? NCCL_SPLIT_NOCOLOR : static_cast<int>(group[0]);
  return check(api_.ncclCommSplit(comm(), color, member_,
                                  child_ == nullptr ? &none : child_, nullptr),
               "ncclCommSplit");
}

Status NcclLink::add_moves(std::span<const Move> sends,
                           std::span<const Move> receives) const {
  for (const Move& m : sends) {
    const Status s =
        check(api_.ncclSend(m.data, m.bytes, ncclInt8,
                            static_cast<int>(m.member), comm(), stream_),
              "ncclSend");
    if (!s.ok()) return s;
  }
  for (const Move& m : receives) {
    const Status s =
        check(api_.ncclRecv(m.data, m.bytes, ncclInt8,
                            static_cast<int>(m.member), comm(), stream_),
              "ncclRecv");
    if (!s.ok()) return s;
  }
  return ok_status();
}

// A scatter into equal parts is one ReduceScatter; unequal parts need a Reduce
// for each member.
Status NcclLink::add_sum(const Sum& sum, ncclDataType_t type) const {
  if (sum.parts.empty()) {
    return check(api_.ncclAllReduce(sum.data, sum.result, sum.count, type,
                                    ncclSum, comm(), stream_),
                 "ncclAllReduce");
  }
  const size_t first = sum.parts[0];
  const bool is_even = std::all_of(sum.parts.begin(), sum.parts.end(),
                                   [&](size_t part) { return part == first; });
  if (is_even) {
    return check(api_.ncclReduceScatter(sum.data, sum.result, first, type,
                                        ncclSum, comm(), stream_),
                 "ncclReduceScatter");
  }
  const auto* data = static_cast<const char*>(sum.data);
  for (size_t member = 0; member < sum.parts.size(); ++member) {
    const size_t count = sum.parts[member];
    if (count == 0) continue;
    const Status s =
        check(api_.ncclReduce(data, sum.result, count, type, ncclSum,
                              static_cast<int>(member), comm(), stream_),
              "ncclReduce");
    if (!s.ok()) return s;
    data += count * static_cast<size_t>(size_of(sum.dtype));
  }
  return ok_status();
}

template <typename Calls>
Status NcclLink::group(size_t comm, const Calls& calls) {
  if (Status s = gpu_->enter(); !s.ok()) return s;
  busy_ = comm;
  Status s = check(api_.ncclGroupStart(), "ncclGroupStart");
  if (!s.ok()) return s;
  phase_ = Phase::kGives;
  s = calls();
  // The group is ended even after an error: an open group would take in all
  // calls that follow.
  const Status ended = check(api_.ncclGroupEnd(), "ncclGroupEnd");
  return s.ok() ? ended : s;
}

Status NcclLink::move(std::span<const Move> sends,
                      std::span<const Move> receives) {
  return group(0, [&] { return add_moves(sends, receives); });
}

Status NcclLink::add(const Sum& sum) {
  const auto type = nccl_type(sum.dtype);
  if (!type) return Error{"NCCL adds no " + std::string(to_string(sum.dtype))};
  if (sum.group >= comms_.size() || comms_[sum.group] == nullptr) {
    return Error{"NCCL has no such group"};
  }
  return group(sum.group, [&] { return add_sum(sum, *type); });
}

// Asks whether the communicator has finished the operation that it began, apart
// from work that is on the stream.
Status NcclLink::check_comm(bool& is_ready) const {
  ncclResult_t state = ncclSuccess;
  Status s = check(api_.ncclCommGetAsyncError(comm(), &state),
                   "ncclCommGetAsyncError");
  if (s.ok()) s = check(state, "NCCL");
  is_ready = state == ncclSuccess;
  return s;
}

// Called once the whole communicator has done its part of a split. True if this
// member gets no new communicator; otherwise the new one must still appear and
// become ready.
bool NcclLink::take_child() {
  const ncclComm_t child =
      child_ == nullptr ? nullptr : std::atomic_ref(*child_).load();
  if (child_ != nullptr && child == nullptr) return false;
  comms_.push_back(child);
  child_ = nullptr;
  if (child == nullptr) {
    phase_ = Phase::kIdle;
  } else {
    phase_ = Phase::kJoins;
    busy_ = comms_.size() - 1;
  }
  return child == nullptr;
}

Result<bool> NcclLink::is_done() {
  if (phase_ == Phase::kIdle) return true;
  if (Status s = gpu_->enter(); !s.ok()) return s.error();
  bool is_ready = false;
  if (Status s = check_comm(is_ready); !s.ok()) return s.error();
  if (!is_ready) return false;
  switch (phase_) {
    case Phase::kSplits:
      return take_child();
    case Phase::kGives:
      if (Status s = reached_.record(stream_); !s.ok()) return s.error();
      phase_ = Phase::kMoves;
      [[fallthrough]];
    case Phase::kMoves: {
      const CUresult reached = gpu_->driver().cuEventQuery(reached_.get());
      if (reached == CUDA_ERROR_NOT_READY) return false;
      const Status s = cuda::check(gpu_->api(), reached, "cuEventQuery");
      if (!s.ok()) return s.error();
      break;
    }
    case Phase::kLeaves:
      (void)api_.ncclCommDestroy(std::exchange(comms_[busy_], nullptr));
      return leave_next();
    default:
      break;
  }
  phase_ = Phase::kIdle;
  return true;
}

void NcclLink::abort(ncclComm_t& comm) const {
  if (comm != nullptr) (void)api_.ncclCommAbort(comm);
  comm = nullptr;
}

// Aborts the operation under way first, since ending the other communicators
// may wait for the GPU. A split ends with the whole communicator, whose abort
// waits for the split; only then is it known whether a communicator was made.
void NcclLink::cancel() {
  if (comms_.empty()) return;
  // An error here is ignored: whatever is not aborted would never end.
  (void)gpu_->enter();
  abort(comms_[busy_]);
  if (child_ != nullptr) comms_.push_back(std::atomic_ref(*child_).load());
  for (size_t c = comms_.size(); c-- > 0;) abort(comms_[c]);
  comms_.clear();
  busy_ = 0;
  child_ = nullptr;
  phase_ = Phase::kIdle;
}

Status NcclLink::leave() {
  if (Status s = gpu_->enter(); !s.ok()) return s;
  const Result<bool> left = leave_next();
  return left.ok() ? ok_status() : Status(left.error());
}

// Leaves the groups before the whole, the last group first. Returns true once
// all are left.
Result<bool> NcclLink::leave_next() {
  while (!comms_.empty() && comms_.back() == nullptr) comms_.pop_back();
  busy_ = comms_.empty() ? 0 : comms_.size() - 1;
  phase_ = comms_.empty() ? Phase::kIdle : Phase::kLeaves;
  if (comms_.empty()) return true;
  const Status s = check(api_.ncclCommFinalize(comm()), "ncclCommFinalize");
  if (!s.ok()) return s.error();
  return false;
}

}  // namespace

Result<std::unique_ptr<DeviceLink>> make_nccl_link(std::shared_ptr<Gpu> gpu,
                                                   CUstream stream) {
  const auto api = nccl_entry_points();
  if (!api.ok()) return api.error();
  int version = 0;
  if (api.value()->ncclGetVersion(&version) != ncclSuccess) {
    return Error{"NCCL does not tell its version"};
  }
  const auto device = gpu->uuid();
  if (!device.ok()) return device.error();
  const std::string kind = "nccl-" + std::to_string(version / 10000) + "." +
                           std::to_string(version / 100 % 100) + "." +
                           std::to_string(version % 100);
  return std::unique_ptr<DeviceLink>(std::make_unique<NcclLink>(
      std::move(gpu), stream, *api.value(), kind, to_hex(device.value())));
}

}  // namespace gt::exec::cuda

#else

namespace gt::exec::cuda {

Result<std::unique_ptr<DeviceLink>> make_nccl_link(std::shared_ptr<Gpu> /*gpu*/,
                                                   CUstream /*stream*/) {
  return Error{"gt was built where nccl.h is not"};
}

}  // namespace gt::exec::cuda

#endif
