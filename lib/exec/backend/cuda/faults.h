// What kernels find wrong with data, told to the host without waiting for it.
//
// Kernels report the least position that met wrong data in one word of the
// device (text/common.cuh). The last launch of a run that can find any is
// tell() of text/fault.cuh: it writes the word, and the element that is wrong,
// to a place in memory of the host, and makes the word ready for the next run.
// Each run has a place of its own until its check was taken. What is recorded
// has a row of places for each time that it is done.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <optional>
#include <span>
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
  // Args::base of what is recorded.
  CUdeviceptr base() const { return word_ + sizeof(uint64_t); }
  // Where each kernel says of which task it is when it begins, so that it is
  // known how far a GPU came that has failed; and that task.
  uint64_t begun_at() const { return reinterpret_cast<uint64_t>(begun_); }
  uint64_t begun() const {
    return begun_ == nullptr ? 0 : std::atomic_ref<uint64_t>(*begun_).load();
  }
  // A place for a run that begins: its Args::told.
  Result<uint64_t> begin();
  // The run was given to the stream, tell() included. The plan says what is
  // wrong; it lasts until its check was taken.
  void leave(uint64_t told, const Plan& plan);
  // The run was not given to the stream whole.
  void spoil(uint64_t told);

  // Runs from now on are recorded: their places are counted from the row's
  // begin, and their checks are not left but returned at the end, as plans.
  void begin_recording() { is_recording_ = true; }
  std::vector<const Plan*> end_recording();
  // A row of so many places, and what is to be done with it once the recording
  // is, or is not, given to the stream.
  Result<uint64_t> begin_row(size_t places);
  void leave_row(uint64_t row, std::span<const Plan* const> plans);
  void spoil_row(uint64_t row, size_t places);

  // As those of Device; checks() has those of the recording, too.
  size_t checks() const { return checks_.size() + recorded_.size(); }
  std::optional<Status> take(bool waits);

 private:
  static constexpr size_t kPlaces = 256;  // of a page of them, or more

  struct Check {
    Told* told = nullptr;
    const Plan* plan = nullptr;
    // So many places, of which this is the last, are used no more once it was
    // taken; 0: others of their row are to be taken yet.
    size_t row = 0;
  };
  // Whether the oldest run was told of; an error of the GPU, after which it
  // never may be.
  Result<bool> is_told(bool waits) const;
  void give_up_row();
  Status add_page(size_t row);

  std::shared_ptr<Gpu> gpu_;
  CUstream stream_ = nullptr;
  CUdeviceptr word_ = 0;    // three of them: the last two are base()'s
  bool is_spoiled_ = true;  // the word is to be made ready
  uint64_t* begun_ = nullptr;
  std::vector<Told*> pages_;
  std::map<size_t, std::vector<Told*>> free_;  // rows, by their places
  bool is_recording_ = false;
  std::vector<const Plan*> recorded_;
  std::deque<Check> checks_;
};

}  // namespace gt::exec::cuda
