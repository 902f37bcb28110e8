// What kernels find wrong with data, told to the host without waiting for it.
//
// Kernels report the least position that met wrong data in one word of the
// device (text/common.cuh). The last launch of a run that can find any is
// tell() of text/fault.cuh: it writes the word, and the element that is wrong,
// to a place in memory of the host, and makes the word ready for the next run.
// Each run has a place of its own until its check was taken.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <optional>
#include <vector>

#include "exec/backend/cuda/gpu.h"
#include "exec/backend/cuda/plan.h"

namespace gt::exec::cuda {

class Faults {
 public:
  // What tell() writes, byte for byte.
  struct Told {
    uint64_t is_told = 0;
    uint64_t position = 0;  // kNone: all is well
    std::array<std::byte, 8> element{};
  };
  static constexpr uint64_t kNone = ~uint64_t{0};

  explicit Faults(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;
  // Of the stream whose runs it follows.
  Status start(CUstream stream);
  void end();  // what the stream was given is done

  CUdeviceptr word() const { return word_; }
  // Where each kernel says of which task it is when it begins, so that it is
  // known how far a GPU came that has failed; and that task.
  uint64_t begun_at() const { return reinterpret_cast<uint64_t>(begun_); }
  uint64_t begun() const {
    return begun_ == nullptr ? 0 : std::atomic_ref<uint64_t>(*begun_).load();
  }
  // A place for a run that begins.
  Result<Told*> begin();
  // The run was given to the stream, tell() included. The plan says what is
  // wrong; it lasts until its check was taken.
  void leave(Told* told, const Plan& plan) { checks_.push_back({told, &plan}); }
  // The run was not given to the stream whole.
  void spoil(Told* told);

  // As those of Device.
  size_t checks() const { return checks_.size(); }
  std::optional<Status> take(bool waits);

 private:
  static constexpr size_t kPlaces = 256;  // of a page of them

  struct Check {
    Told* told = nullptr;
    const Plan* plan = nullptr;
  };
  // Whether the oldest run was told of; an error of the GPU, after which it
  // never may be.
  Result<bool> is_told(bool waits) const;
  Status add_page();

  std::shared_ptr<Gpu> gpu_;
  CUstream stream_ = nullptr;
  CUdeviceptr word_ = 0;
  bool is_spoiled_ = true;  // the word is to be made ready
  uint64_t* begun_ = nullptr;
  std::vector<Told*> pages_;
  std::vector<Told*> free_;
  std::deque<Check> checks_;
};

}  // namespace gt::exec::cuda
