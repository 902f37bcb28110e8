#include "exec/backend/cuda/nccl.h"

#ifdef GT_CUDA_NCCL

#include <algorithm>
#include <optional>

#include "base/hex.h"

namespace gt::exec::cuda {
namespace {

// Of the floats that NCCL adds.
std::optional<ncclDataType_t> data_type(Dtype dtype) {
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
  Status join(std::string_view id, unsigned members, unsigned member) override;
  Status move(std::span<const Move> sends,
              std::span<const Move> receives) override;
  Status add(const Sum& sum) override;
  Result<bool> is_done() override;
  void cancel() override;
  Status leave() override;

 private:
  enum class Phase : uint8_t {
    kIdle,
    kJoins,
    kGives,  // a group, which NCCL has not given to the stream yet
    kMoves,  // the stream is to come to the event behind the group
    kLeaves,
  };
  Status check(ncclResult_t result, const char* call) const;
  Status add_moves(std::span<const Move> sends,
                   std::span<const Move> receives) const;
  Status add_sum(const Sum& sum, ncclDataType_t type) const;
  // Calls within a group, which it then gives to the stream.
  template <typename Calls>
  Status group(const Calls& calls);

  std::shared_ptr<Gpu> gpu_;
  CUstream stream_;
  Nccl api_;
  std::string kind_, device_;
  ncclComm_t comm_ = nullptr;
  CudaEvent reached_;
  Phase phase_ = Phase::kIdle;
};

// A call that has only begun is no failure.
Status NcclLink::check(ncclResult_t result, const char* call) const {
  if (result == ncclSuccess || result == ncclInProgress) return ok_status();
  std::string text = api_.ncclGetErrorString(result);
  const char* last = api_.ncclGetLastError(comm_);
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

Status NcclLink::join(std::string_view id, unsigned members, unsigned member) {
  ncclUniqueId word;
  if (!from_hex(id, word.internal)) {
    return Error{"an id of NCCL's that cannot be"};
  }
  if (Status s = gpu_->enter(); !s.ok()) return s;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  phase_ = Phase::kJoins;
  return check(
      api_.ncclCommInitRankConfig(&comm_, static_cast<int>(members), word,
                                  static_cast<int>(member), &config),
      "ncclCommInitRankConfig");
}

Status NcclLink::add_moves(std::span<const Move> sends,
                           std::span<const Move> receives) const {
  for (const Move& m : sends) {
    const Status s =
        check(api_.ncclSend(m.data, m.bytes, ncclInt8,
                            static_cast<int>(m.member), comm_, stream_),
              "ncclSend");
    if (!s.ok()) return s;
  }
  for (const Move& m : receives) {
    const Status s =
        check(api_.ncclRecv(m.data, m.bytes, ncclInt8,
                            static_cast<int>(m.member), comm_, stream_),
              "ncclRecv");
    if (!s.ok()) return s;
  }
  return ok_status();
}

// A scatter has equal parts; others are a sum for each member.
Status NcclLink::add_sum(const Sum& sum, ncclDataType_t type) const {
  if (sum.parts.empty()) {
    return check(api_.ncclAllReduce(sum.data, sum.result, sum.count, type,
                                    ncclSum, comm_, stream_),
                 "ncclAllReduce");
  }
  const size_t first = sum.parts[0];
  const bool is_even = std::all_of(sum.parts.begin(), sum.parts.end(),
                                   [&](size_t part) { return part == first; });
  if (is_even) {
    return check(api_.ncclReduceScatter(sum.data, sum.result, first, type,
                                        ncclSum, comm_, stream_),
                 "ncclReduceScatter");
  }
  const auto* data = static_cast<const char*>(sum.data);
  for (size_t member = 0; member < sum.parts.size(); ++member) {
    const size_t count = sum.parts[member];
    if (count == 0) continue;
    const Status s =
        check(api_.ncclReduce(data, sum.result, count, type, ncclSum,
                              static_cast<int>(member), comm_, stream_),
              "ncclReduce");
    if (!s.ok()) return s;
    data += count * static_cast<size_t>(size_of(sum.dtype));
  }
  return ok_status();
}

template <typename Calls>
Status NcclLink::group(const Calls& calls) {
  if (Status s = gpu_->enter(); !s.ok()) return s;
  Status s = check(api_.ncclGroupStart(), "ncclGroupStart");
  if (!s.ok()) return s;
  phase_ = Phase::kGives;
  s = calls();
  // Ended even then: a group that is open would take all calls that follow.
  const Status ended = check(api_.ncclGroupEnd(), "ncclGroupEnd");
  return s.ok() ? ended : s;
}

Status NcclLink::move(std::span<const Move> sends,
                      std::span<const Move> receives) {
  return group([&] { return add_moves(sends, receives); });
}

Status NcclLink::add(const Sum& sum) {
  const auto type = data_type(sum.dtype);
  if (!type) return Error{"NCCL adds no " + std::string(to_string(sum.dtype))};
  return group([&] { return add_sum(sum, *type); });
}

Result<bool> NcclLink::is_done() {
  if (phase_ == Phase::kIdle) return true;
  if (Status s = gpu_->enter(); !s.ok()) return s.error();
  ncclResult_t state = ncclSuccess;
  Status s =
      check(api_.ncclCommGetAsyncError(comm_, &state), "ncclCommGetAsyncError");
  if (s.ok()) s = check(state, "NCCL");
  if (!s.ok()) return s.error();
  if (state == ncclInProgress) return false;
  switch (phase_) {
    case Phase::kGives:
      if (s = reached_.record(stream_); !s.ok()) return s.error();
      phase_ = Phase::kMoves;
      [[fallthrough]];
    case Phase::kMoves: {
      const CUresult reached = gpu_->driver().cuEventQuery(reached_.get());
      if (reached == CUDA_ERROR_NOT_READY) return false;
      s = cuda::check(gpu_->api(), reached, "cuEventQuery");
      if (!s.ok()) return s.error();
      break;
    }
    case Phase::kLeaves:
      (void)api_.ncclCommDestroy(comm_);
      comm_ = nullptr;
      break;
    default:
      break;
  }
  phase_ = Phase::kIdle;
  return true;
}

void NcclLink::cancel() {
  if (comm_ == nullptr) return;
  // Even if this fails: what is not aborted would never end.
  (void)gpu_->enter();
  (void)api_.ncclCommAbort(comm_);
  comm_ = nullptr;
  phase_ = Phase::kIdle;
}

Status NcclLink::leave() {
  if (Status s = gpu_->enter(); !s.ok()) return s;
  phase_ = Phase::kLeaves;
  return check(api_.ncclCommFinalize(comm_), "ncclCommFinalize");
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
