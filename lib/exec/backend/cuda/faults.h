// Reports data errors that kernels find, such as an index out of range, to the
// host without waiting for the GPU.
//
// Kernels write the smallest position at which they met wrong data to one word
// of device memory (text/common.cuh). The last launch of a run that can find
// wrong data is tell() of text/fault.cuh: it copies the word and the wrong
// element to a place in host memory, and resets the word for the next run. Each
// run keeps a place of its own until its check is taken. A recording gets a
// whole row of places for each replay.
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
  // A place in host memory, which tell() fills, byte for byte.
  struct Told {
    uint64_t is_told = 0;
    uint64_t position = 0;  // kNone: no data is wrong
    std::array<std::byte, 8> element{};
  };
  static constexpr uint64_t kNone = ~uint64_t{0};

  explicit Faults(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;
  // Begins with runs that are given to `stream`.
  Status start(CUstream stream);
  // Frees all memory, after the work of the stream is done.
  void end();

  CUdeviceptr word() const { return word_; }
  // The value for Args::base while a recording is made.
  CUdeviceptr base() const { return word_ + sizeof(uint64_t); }
  // begun_at() is the address where each kernel writes the task that it belongs
  // to when it begins; begun() reads it. It shows how far a GPU came that has
  // failed.
  uint64_t begun_at() const { return reinterpret_cast<uint64_t>(begun_); }
  uint64_t begun() const {
    return begun_ == nullptr ? 0 : std::atomic_ref<uint64_t>(*begun_).load();
  }
  // Returns a place for a run that begins, the value for its Args::told.
  Result<uint64_t> begin();
  // To be called once the run, including its tell(), was given to the stream:
  // leaves a check. `plan` explains what is wrong with the data; it must live
  // until the check is taken.
  void leave(uint64_t told, const Plan& plan);
  // To be called instead if the run was given to the stream only in part or not
  // at all.
  void spoil(uint64_t told);

  // From now on runs are recorded: their places are offsets from the begin of a
  // row, and their checks are not left but returned by end_recording(), as
  // plans.
  void begin_recording() { is_recording_ = true; }
  std::vector<const Plan*> end_recording();
  // begin_row() returns a row of `places` places for a replay. leave_row() is
  // to be called once the recording was given to the stream, spoil_row() if it
  // was not.
  Result<uint64_t> begin_row(size_t places);
  void leave_row(uint64_t row, std::span<const Plan* const> plans);
  void spoil_row(uint64_t row, size_t places);

  // These are as in Device; checks() also counts those of the recording.
  size_t checks() const { return checks_.size() + recorded_.size(); }
  std::optional<Status> take(bool waits);

 private:
  // The least number of places in a page.
  static constexpr size_t kPlaces = 256;

  struct Check {
    Told* told = nullptr;
    const Plan* plan = nullptr;
    // Number of places, of which this is the last, that are free once this
    // check was taken; 0 if later checks of the same row are still to be taken.
    size_t row = 0;
  };
  // True if the oldest run has reported. An error means that the GPU failed and
  // the run may never report.
  Result<bool> is_told(bool waits) const;
  void give_up_row();
  Status add_page(size_t row);

  std::shared_ptr<Gpu> gpu_;
  CUstream stream_ = nullptr;
  // Three words; the last two are the memory of base().
  CUdeviceptr word_ = 0;
  bool is_spoiled_ = true;  // true if the word must be reset before use
  uint64_t* begun_ = nullptr;
  std::vector<Told*> pages_;
  // The free rows, by their number of places.
  std::map<size_t, std::vector<Told*>> free_;
  bool is_recording_ = false;
  std::vector<const Plan*> recorded_;
  std::deque<Check> checks_;
};

}  // namespace gt::exec::cuda
