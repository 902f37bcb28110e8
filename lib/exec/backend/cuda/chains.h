// Chains: consecutive point-wise runs that are done by one launch.
//
// A run of a point-wise kernel is put off as long as further point-wise runs of
// the same shape follow. Together they are a chain: a value that one run writes
// and a later one reads stays in registers, and a value that nothing else reads
// is never written to memory. The results have the same bits as with a launch
// for each run (fusion.h).
//
// A reduction, a norm or a softmax of a value that the chain makes may be the
// chain's end. It is put off, too, since nobody else may need the value that it
// reads, and its first launch does the chain's work as well.
//
// A chain whose form has come before is compiled in the background. Until it is
// compiled, and when a form comes for the first time, each run is a launch of
// its own.
//
// Small chains that follow one another and differ only in their memory and
// shapes, such as the casts of all weights, are items of one launch (batch.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "exec/backend/cuda/batch.h"
#include "exec/backend/cuda/deferred_launches.h"

namespace gt::exec::cuda {

// The part of a chain that is the same for all runs of one point-wise kernel.
class ChainLink {
 public:
  explicit ChainLink(Pointwise what);

  // An operand, as the kernel's own launch has it.
  struct Leaf {
    Slot slot;
    Type type;
    size_t value = 0;  // the operand's id in the fusion
    bool is_number = false;
  };
  const Pointwise& what() const { return what_; }
  std::span<const Leaf> leaves() const { return leaves_; }
  // A number that no other link and no end has.
  uint64_t id() const { return id_; }

 private:
  Pointwise what_;
  std::vector<Leaf> leaves_;
  uint64_t id_;
};

// The part of a chain that is the same for all runs of one kernel that reduces.
class ChainEnd {
 public:
  ChainEnd(Reducing how, Launch first);
  const Reducing& how() const { return how_; }
  // The first launch of the kernel's plan.
  const Launch& first() const { return first_; }
  // A number that no other end and no link has.
  uint64_t id() const { return id_; }

 private:
  Reducing how_;
  Launch first_;
  uint64_t id_;
};

class Chains final : public DeferredLaunches {
 public:
  explicit Chains(Gpu& gpu) : gpu_(gpu) {}

  // True if a run can be added to the chain; false if it must begin another
  // chain. `words` are the addresses and numbers of the link's leaves, in
  // order.
  bool joins(const ChainLink& link, std::span<const uint64_t> words,
             uint64_t out) const;
  // Ends the chain, so that another can begin. Passes its launches to `give`,
  // as take() does, unless the chain may share a launch with the chains that
  // follow.
  void close(bool waits, const Give& give);
  // Puts a run off. `alone` is the launch that does the run by itself. joins()
  // must have returned true for the run, unless the chain is empty.
  void add(std::shared_ptr<const ChainLink> link,
           std::span<const uint64_t> words, uint64_t out,
           const ReadyLaunch& alone);
  // True if a kernel that reduces the value at `from`, reads `others` besides
  // and writes to `to` can be the end of the chain. The chain must not be
  // empty.
  bool ends(const ChainEnd& end, uint64_t from, std::span<const Extent> others,
            uint64_t to) const;
  // Puts such a kernel's run off. `alone` are the launches that do the run by
  // itself. ends() must have returned true for the run.
  void add_end(std::shared_ptr<const ChainEnd> end, uint64_t from, uint64_t to,
               std::span<const ReadyLaunch> alone);
  void forget(uint64_t out) override;
  void end_line() override { ++lines_; }
  void take(bool waits, const Give& give) override;

 private:
  static constexpr size_t kMostRuns = 32;
  static constexpr size_t kMostForms = 4096;  // most forms that are remembered
  // A chain of more elements than this always has a launch of its own: the
  // launch is short beside its work.
  static constexpr int64_t kMostOfItem = int64_t{1} << 22;

  // Where the value of a leaf comes from: a run of the chain, or an operand of
  // the chain.
  struct Source {
    bool is_run = false;
    size_t index = 0;
  };
  struct Operand {
    uint64_t word = 0;  // an address, or the bits of a number
    Type type;
    bool is_number = false;
  };
  struct Run {
    std::shared_ptr<const ChainLink> link;
    Extent out;
    // False once the result was written over or forgotten, so that nothing
    // behind the chain can read it.
    bool is_live = true;
    std::vector<Source> sources;
  };
  struct Kernel {
    std::optional<Launch> launch;  // none: the chain cannot be one launch
    std::optional<Gpu::Function> function;
  };
  // The kernel for a chain that is an item of a launch.
  struct ItemKernel : Kernel {
    ItemSlots slots;
    // Two chains whose kernels have the same text have the same number.
    uint64_t number = 0;
  };
  // The kernels made for one form of chain.
  struct Form {
    Kernel whole;
    std::optional<ItemKernel> item;  // none: it was not needed yet
    bool is_known = false;           // true if a chain of this form came before
  };
  // The runs of the chain as one fusion.
  struct Fused;

  Source find(const ChainLink::Leaf& leaf, uint64_t word) const;
  std::optional<size_t> find_run(uint64_t word, const Type& type) const;
  // Describes the chain's form; `ends` says whether to include the chain's end.
  std::vector<uint64_t> signature(bool ends) const;
  Fused fuse() const;
  Form& form_of(bool ends, bool waits);
  // Returns the kernel's function, or null if it is not compiled yet (with
  // `waits` false) or cannot be made.
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
  // The number of runs: the entries of runs_ and alone_ that are in use.
  size_t count_ = 0;
  size_t lines_ = 0;  // number of lines whose work the runs do
  std::vector<Run> runs_ = std::vector<Run>(kMostRuns);
  std::vector<ReadyLaunch> alone_ = std::vector<ReadyLaunch>(kMostRuns);
  std::vector<Operand> operands_;
  std::shared_ptr<const ChainEnd> end_;  // null: the chain has no end
  size_t reduced_ = 0;                   // the run whose result end_ reduces
  std::vector<ReadyLaunch> end_alone_;
  // The launches that were passed to `give` last.
  ReadyLaunch fused_;
  std::vector<ReadyLaunch> with_end_;
  // The closed chains that were not given yet, and the launches to use instead
  // if the first of them stays alone.
  Batch alike_;
  std::vector<ReadyLaunch> first_;
  // The number of each item kernel, by its name.
  std::unordered_map<std::string, uint64_t> item_kernels_;
  struct Hash {
    size_t operator()(const std::vector<uint64_t>& words) const;
  };
  std::unordered_map<std::vector<uint64_t>, Form, Hash> forms_;
};

}  // namespace gt::exec::cuda
