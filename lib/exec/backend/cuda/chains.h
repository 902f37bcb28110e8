// Point-wise runs that follow one another, as one launch.
//
// A run of a point-wise kernel is put off as long as such runs of one shape
// follow. Together they are a chain: what one writes and a later one reads goes
// through registers, and what nothing else reads is never written at all.
// Results have the bits that a launch for each run gives (fusion.h).
//
// A reduction, a norm or a softmax of what the chain makes may be its end: then
// it is put off, too, since what it reads may be needed by nobody else, and its
// first launch is the chain's.
//
// A chain of a form that has come before is compiled in the background; until
// that is done, and for one that has not, each of its runs is a launch of its
// own.
//
// Small chains that follow one another and differ in their memory and shapes
// alone, such as the casts of all weights, are items of one launch (batch.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "exec/backend/cuda/batch.h"
#include "exec/backend/cuda/put_off.h"

namespace gt::exec::cuda {

// What is the same in all runs of a point-wise kernel.
class ChainLink {
 public:
  explicit ChainLink(Pointwise what);

  // An operand, as the kernel's own launch has it.
  struct Leaf {
    Slot slot;
    Type type;
    size_t value = 0;  // of the fusion
    bool is_number = false;
  };
  const Pointwise& what() const { return what_; }
  std::span<const Leaf> leaves() const { return leaves_; }
  uint64_t id() const { return id_; }  // no other has it

 private:
  Pointwise what_;
  std::vector<Leaf> leaves_;
  uint64_t id_;
};

// What is the same in all runs of a kernel that reduces.
class ChainEnd {
 public:
  ChainEnd(Reducing how, Launch first);
  const Reducing& how() const { return how_; }
  const Launch& first() const { return first_; }  // of the plan
  uint64_t id() const { return id_; }  // no other has it, nor any link

 private:
  Reducing how_;
  Launch first_;
  uint64_t id_;
};

class Chains final : public PutOff {
 public:
  explicit Chains(Gpu& gpu) : gpu_(gpu) {}

  // Whether a run can be added to the chain, or must begin another. `words` are
  // the addresses and numbers of the link's leaves, in order.
  bool joins(const ChainLink& link, std::span<const uint64_t> words,
             uint64_t out) const;
  // Ends the chain, so that another can begin. Gives it, as take() does, unless
  // it may be one launch with chains behind it.
  void close(bool waits, const Give& give);
  // Puts a run off; `alone` is what it is if it is launched by itself. joins()
  // has said so, or the chain is empty.
  void add(std::shared_ptr<const ChainLink> link,
           std::span<const uint64_t> words, uint64_t out,
           const ReadyLaunch& alone);
  // Whether a kernel that reduces what lies at `from`, reads `others` beside it
  // and writes to `to` can be the end of the chain, which is not empty.
  bool ends(const ChainEnd& end, uint64_t from, std::span<const Extent> others,
            uint64_t to) const;
  // Puts it off; `alone` are its launches. ends() has said so.
  void add_end(std::shared_ptr<const ChainEnd> end, uint64_t from, uint64_t to,
               std::span<const ReadyLaunch> alone);
  void forget(uint64_t out) override;
  void end_line() override { ++lines_; }
  void take(bool waits, const Give& give) override;

 private:
  static constexpr size_t kMostRuns = 32;
  static constexpr size_t kMostForms = 4096;  // that are remembered
  // A launch for itself is worth its time to a chain of more elements.
  static constexpr int64_t kMostOfItem = int64_t{1} << 22;

  // What a leaf is: what a run of the chain wrote, or an operand of the chain.
  struct Source {
    bool is_run = false;
    size_t index = 0;
  };
  struct Operand {
    uint64_t word = 0;  // an address, or a number
    Type type;
    bool is_number = false;
  };
  struct Run {
    std::shared_ptr<const ChainLink> link;
    Extent out;
    // It may be read yet: it was neither written over nor forgotten.
    bool is_live = true;
    std::vector<Source> sources;
  };
  struct Kernel {
    std::optional<Launch> launch;  // none: it cannot be one
    std::optional<Gpu::Function> function;
  };
  // The same of an item of a launch.
  struct ItemKernel : Kernel {
    ItemSlots slots;
    uint64_t number = 0;  // the same text has the same
  };
  // A chain's form, and what is made of it.
  struct Form {
    Kernel whole;
    std::optional<ItemKernel> item;  // none: it was not wanted yet
    bool is_known = false;           // it has come before
  };
  // The runs as a fusion.
  struct Fused;

  Source find(const ChainLink::Leaf& leaf, uint64_t word) const;
  std::optional<size_t> find_run(uint64_t word, const Type& type) const;
  // With or without the end that there is.
  std::vector<uint64_t> signature(bool ends) const;
  Fused fuse() const;
  Form& form_of(bool ends, bool waits);
  // The kernel's function, if it is compiled.
  CUfunction function_of(Kernel& kernel, bool waits);
  ItemKernel make_item();
  ReadyLaunch ready(const Launch& made, CUfunction function, ReadyLaunch launch,
                    size_t results) const;
  bool has_results() const;
  bool is_small() const;
  Form* form_of_runs(bool waits);
  std::span<const ReadyLaunch> launches_of_runs(Form* form, bool waits);
  std::span<const ReadyLaunch> launches_of_whole(bool waits);
  std::optional<Batch::Run> as_item(Form& form, bool waits);
  void give_chain(Form* form, bool waits, const Give& give);
  void give_alike(bool waits, const Give& give);
  void clear();

  Gpu& gpu_;
  size_t count_ = 0;  // of runs_ and alone_
  size_t lines_ = 0;  // whose work they are
  std::vector<Run> runs_ = std::vector<Run>(kMostRuns);
  std::vector<ReadyLaunch> alone_ = std::vector<ReadyLaunch>(kMostRuns);
  std::vector<Operand> operands_;
  std::shared_ptr<const ChainEnd> end_;  // null: there is none
  size_t reduced_ = 0;                   // the run that it reads
  std::vector<ReadyLaunch> end_alone_;
  // What was given last.
  ReadyLaunch fused_;
  std::vector<ReadyLaunch> with_end_;
  // The chains that were closed and not given yet, and the first of them as
  // launches of its own.
  Batch alike_;
  std::vector<ReadyLaunch> first_;
  std::unordered_map<std::string, uint64_t> item_kernels_;  // by their names
  struct Hash {
    size_t operator()(const std::vector<uint64_t>& words) const;
  };
  std::unordered_map<std::vector<uint64_t>, Form, Hash> forms_;
};

}  // namespace gt::exec::cuda
