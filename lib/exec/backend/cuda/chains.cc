#include "exec/backend/cuda/chains.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "exec/backend/cuda/fusion.h"

namespace gt::exec::cuda {
namespace {

Extent extent_of(uint64_t address, const Type& type) {
  return {address, type.bytes()};
}

uint64_t next_id() {
  static std::atomic<uint64_t> made = 0;
  return ++made;
}

}  // namespace

ChainLink::ChainLink(Pointwise what) : what_(std::move(what)), id_(next_id()) {
  const Fusion& fusion = *what_.fusion;
  for (const Fusion::Id id : fusion.leaves(what_.value)) {
    leaves_.push_back(
        {fusion.slot(id), fusion.type(id), id, fusion.is_number(id)});
  }
}

ChainEnd::ChainEnd(Reducing how, Launch first)
    : how_(std::move(how)), first_(std::move(first)), id_(next_id()) {}

// Returns the last run that wrote a value of this type at the address and whose
// result may still be read.
std::optional<size_t> Chains::find_run(uint64_t word, const Type& type) const {
  for (size_t r = count_; r-- > 0;) {
    const Run& run = runs_[r];
    if (run.is_live && run.out.begin == word && run.link->what().type == type) {
      return r;
    }
  }
  return std::nullopt;
}

// Returns the run that wrote the leaf's value last; if there is none, the
// operand of the chain that it is already, or the index of a new operand.
Chains::Source Chains::find(const ChainLink::Leaf& leaf, uint64_t word) const {
  if (!leaf.is_number) {
    if (const auto r = find_run(word, leaf.type)) return {true, *r};
  }
  const auto same = [&](const Operand& o) {
    return o.is_number == leaf.is_number && o.word == word &&
           o.type == leaf.type;
  };
  const auto at = std::find_if(operands_.begin(), operands_.end(), same);
  return {false, static_cast<size_t>(at - operands_.begin())};
}

bool Chains::joins(const ChainLink& link, std::span<const uint64_t> words,
                   uint64_t out) const {
  if (count_ == kMostRuns || end_ != nullptr) return false;
  const Type& type = link.what().type;
  if (type.shape != runs_[0].link->what().type.shape) return false;
  // A thread reads an element of every operand before it writes that element of
  // any result, but other threads may have written their elements by then.
  const Extent written = extent_of(out, type);
  const auto is_read_elsewhere = [&](uint64_t at, const Type& of) {
    return extent_of(at, of).overlaps(written) &&
           (at != out || of.shape != type.shape ||
            size_of(of.dtype) != size_of(type.dtype));
  };
  for (const Operand& o : operands_) {
    if (!o.is_number && is_read_elsewhere(o.word, o.type)) return false;
  }
  // Count the operands and results that the chain would have: a launch can
  // carry only so many.
  size_t operands = operands_.size();
  const auto leaves = link.leaves();
  for (size_t k = 0; k < leaves.size(); ++k) {
    const Source source = find(leaves[k], words[k]);
    if (source.is_run) continue;
    if (source.index >= operands_.size()) ++operands;
    if (leaves[k].is_number) continue;
    // In the chain's launch an earlier run may write after this run reads.
    const Extent extent = extent_of(words[k], leaves[k].type);
    for (size_t r = 0; r < count_; ++r) {
      if (runs_[r].is_live && runs_[r].out.overlaps(extent)) return false;
    }
    if (is_read_elsewhere(words[k], leaves[k].type)) return false;
  }
  size_t live = 1;
  for (size_t r = 0; r < count_; ++r) {
    const Run& run = runs_[r];
    if (!run.is_live) continue;
    if (!run.out.overlaps(written)) {
      ++live;
    } else if (run.out.begin != out || run.out.bytes > written.bytes) {
      return false;
    }
  }
  return operands <= kIn && live <= kOut;
}

void Chains::add(std::shared_ptr<const ChainLink> link,
                 std::span<const uint64_t> words, uint64_t out,
                 const ReadyLaunch& alone) {
  Run& run = runs_[count_];
  run.link = std::move(link);
  run.is_live = true;
  run.out = extent_of(out, run.link->what().type);
  run.sources.clear();
  const auto leaves = run.link->leaves();
  for (size_t k = 0; k < leaves.size(); ++k) {
    const Source source = find(leaves[k], words[k]);
    run.sources.push_back(source);
    if (source.is_run || source.index < operands_.size()) continue;
    operands_.push_back({words[k], leaves[k].type, leaves[k].is_number});
  }
  forget(out);
  alone_[count_] = alone;
  ++count_;
}

// The reduction and the chain become one launch, whose threads run in any
// order. So the reduction must not write to memory that the chain reads or
// writes. One case is allowed: the reduction's threads have read their elements
// before they write (Reducing::in_place), and it overwrites the whole of a
// tensor that has the shape it reduces. Nor may the reduction read what the
// chain writes, apart from the value that it reduces, which it gets from
// registers.
bool Chains::ends(const ChainEnd& end, uint64_t from,
                  std::span<const Extent> others, uint64_t to) const {
  const Extent out = extent_of(to, end.how().result);
  const Shape& shape = end.how().operand.shape;
  if (end_ != nullptr || !find_run(from, end.how().operand)) return false;
  const auto is_in_the_way = [&](uint64_t at, const Type& type) {
    const Extent extent = extent_of(at, type);
    return extent.overlaps(out) &&
           !(end.how().in_place && at == to && extent.bytes == out.bytes &&
             type.shape == shape);
  };
  return std::none_of(operands_.begin(), operands_.end(),
                      [&](const Operand& o) {
                        return !o.is_number && is_in_the_way(o.word, o.type);
                      }) &&
         std::none_of(
             runs_.begin(), runs_.begin() + static_cast<long>(count_),
             [&](const Run& run) {
               return run.is_live &&
                      (is_in_the_way(run.out.begin, run.link->what().type) ||
                       std::any_of(others.begin(), others.end(),
                                   [&](const Extent& other) {
                                     return run.out.overlaps(other);
                                   }));
             });
}

// A result that the end overwrites is read by nobody else.
void Chains::add_end(std::shared_ptr<const ChainEnd> end, uint64_t from,
                     uint64_t to, std::span<const ReadyLaunch> alone) {
  reduced_ = *find_run(from, end->how().operand);
  end_ = std::move(end);
  end_alone_.assign(alone.begin(), alone.end());
  forget(to);
}

void Chains::forget(uint64_t out) {
  for (size_t r = 0; r < count_; ++r) {
    if (runs_[r].out.begin == out) runs_[r].is_live = false;
  }
}

// The signature holds everything that the text and the numbers of the chain's
// launch depend on. The number of runs comes first, since it tells where their
// words end.
std::vector<uint64_t> Chains::signature(bool ends) const {
  std::vector<uint64_t> words = {count_ << 1 | (ends ? 1U : 0U)};
  for (size_t r = 0; r < count_; ++r) {
    const Run& run = runs_[r];
    words.push_back(run.link->id() << 1 | (run.is_live ? 1 : 0));
    for (const Source& s : run.sources) {
      words.push_back(s.index << 1 | (s.is_run ? 1 : 0));
    }
  }
  if (ends) words.insert(words.end(), {end_->id(), reduced_});
  return words;
}

// Its operands have the indices of the chain's operands; its results are those
// of the runs that are live.
struct Chains::Fused {
  Fusion fusion;
  std::vector<Fusion::Id> made;  // one by each run
  std::vector<Fusion::Id> results;
  std::vector<Slot> to;
};

Chains::Fused Chains::fuse() const {
  Fused fused;
  Fusion& fusion = fused.fusion;
  std::vector<std::optional<Fusion::Id>> operands(operands_.size());
  for (size_t r = 0; r < count_; ++r) {
    const Run& run = runs_[r];
    const Fusion& own = *run.link->what().fusion;
    std::vector<Fusion::Id> leaves;
    for (size_t k = 0; k < run.sources.size(); ++k) {
      const Source& s = run.sources[k];
      if (s.is_run) {
        leaves.push_back(fused.made[s.index]);
        continue;
      }
      const ChainLink::Leaf& leaf = run.link->leaves()[k];
      auto& id = operands[s.index];
      if (!id) {
        id = leaf.is_number ? fusion.add_number(leaf.type, operand(s.index),
                                                own.number_text(leaf.value))
                            : fusion.add_memory(leaf.type, operand(s.index));
      }
      leaves.push_back(*id);
    }
    fused.made.push_back(fusion.add_all(own, run.link->what().value, leaves));
    if (!run.is_live) continue;
    fused.results.push_back(fused.made.back());
    fused.to.push_back(result(r));
  }
  return fused;
}

// A form that comes for the first time is not compiled. A single run without an
// end needs no launch made for it, since it has one already.
Chains::Form& Chains::form_of(bool ends, bool waits) {
  if (forms_.size() == kMostForms) forms_.clear();
  const auto [at, is_new] = forms_.try_emplace(signature(ends));
  Form& form = at->second;
  form.is_known = waits || !is_new;
  if (!is_new || (count_ == 1 && !ends)) return form;
  const Fused made = fuse();
  form.whole.launch =
      ends ? made.fusion.launch_reduced(made.made[reduced_], end_->how(),
                                        end_->first(), made.results, made.to)
           : made.fusion.launch(made.results, made.to);
  return form;
}

CUfunction Chains::function_of(Kernel& kernel, bool waits) {
  if (!kernel.launch) return nullptr;
  if (!kernel.function) kernel.function = gpu_.function(kernel.launch->source);
  if (!waits && kernel.function->wait_for(std::chrono::seconds(0)) !=
                    std::future_status::ready) {
    return nullptr;
  }
  const Result<CUfunction>& function = kernel.function->get();
  if (function.ok()) return function.value();
  kernel.launch.reset();
  return nullptr;
}

// Puts the launch that was made of the chain in place of `launch`. Its first
// `results` results are those that `launch` has already; the others are those
// of the chain.
ReadyLaunch Chains::ready(const Launch& made, CUfunction function,
                          ReadyLaunch launch, size_t results) const {
  launch.function = function;
  launch.blocks = made.blocks;
  launch.args.n = made.n;
  for (size_t i = 0; i < made.in.size(); ++i) {
    launch.args.in[i] = operands_[made.in[i].index].word;
  }
  for (size_t i = results; i < made.out.size(); ++i) {
    launch.args.out[i] = runs_[made.out[i].index].out.begin;
  }
  return launch;
}

bool Chains::has_results() const {
  return std::any_of(runs_.begin(), runs_.begin() + static_cast<long>(count_),
                     [](const Run& run) { return run.is_live; });
}

// Returns the launches of a chain without an end: one launch if it is compiled,
// else one for each run.
std::span<const ReadyLaunch> Chains::launches_of_runs(Form* form, bool waits) {
  if (!has_results()) return {};
  const CUfunction function = form != nullptr && form->is_known
                                  ? function_of(form->whole, waits)
                                  : nullptr;
  if (function == nullptr) return std::span(alone_).first(count_);
  fused_ = ready(*form->whole.launch, function, alone_[count_ - 1], 0);
  return {&fused_, 1};
}

// Returns the launches of a chain with an end. If it is compiled, the end's
// first launch does the work of the runs, too. Until then each run and the end
// have launches of their own. If the chain and its end cannot be one launch,
// the runs alone may be, and the end then reads the value that it was to
// compute.
std::span<const ReadyLaunch> Chains::launches_of_whole(bool waits) {
  Form& form = form_of(true, waits);
  const CUfunction function =
      form.is_known ? function_of(form.whole, waits) : nullptr;
  if (function != nullptr) {
    end_alone_[0] = ready(*form.whole.launch, function, end_alone_[0], 1);
    return end_alone_;
  }
  std::span<const ReadyLaunch> runs = std::span(alone_).first(count_);
  if (!form.whole.launch) {
    runs_[reduced_].is_live = true;
    runs =
        launches_of_runs(count_ > 1 ? &form_of(false, waits) : nullptr, waits);
  }
  with_end_.assign(runs.begin(), runs.end());
  with_end_.insert(with_end_.end(), end_alone_.begin(), end_alone_.end());
  return with_end_;
}

Chains::ItemKernel Chains::make_item() {
  ItemKernel item;
  const Fused made = fuse();
  auto launch = made.fusion.launch_item(made.results, made.to);
  if (!launch) return item;
  item.slots = std::move(launch->item);
  const std::string& name = launch->launch.source.name;
  item.number =
      item_kernels_.try_emplace(name, item_kernels_.size() + 1).first->second;
  item.launch = std::move(launch->launch);
  return item;
}

// Returns the chain as an item of a launch, or none if it cannot be one. The
// run has no function until two chains with this kernel have followed one
// another and the kernel is compiled.
std::optional<Batch::Run> Chains::as_item(Form& form, bool waits) {
  if (!form.is_known || !is_small()) return std::nullopt;
  if (!form.item) form.item = make_item();
  ItemKernel& item = *form.item;
  const CUfunction function =
      alike_.size() > 0 && alike_.kernel() == item.number
          ? function_of(item, waits)
          : nullptr;
  if (!item.launch) return std::nullopt;
  Batch::Run run;
  run.kernel = item.number;
  run.work = alone_[count_ - 1];
  run.work.args.in = {};
  run.work.args.out = {};
  run.work = ready(*item.launch, function, run.work, 0);
  run.item.n = item.slots.n;
  for (size_t i = 0; i < item.slots.in.size(); ++i) {
    run.item.in[i] = operands_[item.slots.in[i].index].word;
  }
  for (size_t i = 0; i < item.slots.out.size(); ++i) {
    run.item.out[i] = runs_[item.slots.out[i].index].out.begin;
  }
  for (const Operand& o : operands_) {
    if (!o.is_number) run.reads.push_back(extent_of(o.word, o.type));
  }
  for (size_t r = 0; r < count_; ++r) {
    if (runs_[r].is_live) run.writes.push_back(runs_[r].out);
  }
  return run;
}

bool Chains::is_small() const {
  return runs_[0].link->what().type.elements() <= kMostOfItem;
}

// Returns the form of a chain without an end. It is looked up once for each
// chain, since looking a form up marks it as one that has come before. A single
// run that cannot be an item needs no form.
Chains::Form* Chains::form_of_runs(bool waits) {
  const bool is_wanted =
      end_ == nullptr && has_results() && (count_ > 1 || is_small());
  return is_wanted ? &form_of(false, waits) : nullptr;
}

void Chains::give_chain(Form* form, bool waits, const Give& give) {
  give(end_ == nullptr ? launches_of_runs(form, waits)
                       : launches_of_whole(waits),
       std::exchange(lines_, 0));
}

// Launches the closed chains. If there is only one, the launches that were made
// for it alone are used.
void Chains::give_alike(bool waits, const Give& give) {
  if (alike_.size() == 1) {
    give(first_, alike_.clear());
  } else if (alike_.size() > 1) {
    alike_.take(waits, give);
  }
}

void Chains::close(bool waits, const Give& give) {
  Form* const form = form_of_runs(waits);
  const auto run = form != nullptr ? as_item(*form, waits) : std::nullopt;
  const bool is_alike = run && alike_.size() > 0 &&
                        run->work.function != nullptr && alike_.joins(*run);
  if (!is_alike) give_alike(waits, give);
  if (run) {
    if (!is_alike) {
      const auto launches = launches_of_runs(form, waits);
      first_.assign(launches.begin(), launches.end());
    }
    alike_.add(*run, std::exchange(lines_, 0));
  } else {
    give_chain(form, waits, give);
  }
  clear();
}

// If no other chain was closed before it, the chain has nothing to share a
// launch with.
void Chains::take(bool waits, const Give& give) {
  if (alike_.size() > 0) {
    close(waits, give);
    give_alike(waits, give);
    return;
  }
  give_chain(count_ > 1 ? form_of_runs(waits) : nullptr, waits, give);
  clear();
}

void Chains::clear() {
  count_ = 0;
  operands_.clear();
  end_.reset();
}

size_t Chains::Hash::operator()(const std::vector<uint64_t>& words) const {
  uint64_t h = words.size();
  for (const uint64_t word : words) {
    h = (h ^ word) * 0x9e3779b97f4a7c15U;
    h ^= h >> 32;
  }
  return h;
}

}  // namespace gt::exec::cuda
