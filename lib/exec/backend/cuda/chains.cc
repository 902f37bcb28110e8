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

// The last that wrote a value there which may be read yet.
std::optional<size_t> Chains::find_run(uint64_t word, const Type& type) const {
  for (size_t r = count_; r-- > 0;) {
    const Run& run = runs_[r];
    if (run.is_live && run.out.begin == word && run.link->what().type == type) {
      return r;
    }
  }
  return std::nullopt;
}

// What it was last written by; else the operand that it is already, else a new
// one.
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
  // Each thread reads an element of all operands before it writes that element
  // of any result, but others may have written theirs.
  const Extent written = extent_of(out, type);
  const auto is_read_elsewhere = [&](uint64_t at, const Type& of) {
    return extent_of(at, of).overlaps(written) &&
           (at != out || of.shape != type.shape ||
            size_of(of.dtype) != size_of(type.dtype));
  };
  for (const Operand& o : operands_) {
    if (!o.is_number && is_read_elsewhere(o.word, o.type)) return false;
  }
  // It can take as many operands, and results, as a launch can carry.
  size_t operands = operands_.size();
  const auto leaves = link.leaves();
  for (size_t k = 0; k < leaves.size(); ++k) {
    const Source source = find(leaves[k], words[k]);
    if (source.is_run) continue;
    if (source.index >= operands_.size()) ++operands;
    if (leaves[k].is_number) continue;
    // In the chain's launch the write of an earlier run may come later.
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

// What it writes is nothing that the chain reads or writes, since its launch
// may do both at once.
bool Chains::ends(const ChainEnd& end, uint64_t from, uint64_t to) const {
  const Extent out = extent_of(to, end.how().result);
  if (end_ != nullptr || !find_run(from, end.how().operand)) return false;
  return std::none_of(operands_.begin(), operands_.end(),
                      [&](const Operand& o) {
                        return !o.is_number &&
                               extent_of(o.word, o.type).overlaps(out);
                      }) &&
         std::none_of(runs_.begin(), runs_.begin() + static_cast<long>(count_),
                      [&](const Run& run) {
                        return run.is_live && run.out.overlaps(out);
                      });
}

void Chains::add_end(std::shared_ptr<const ChainEnd> end, uint64_t from,
                     std::span<const ReadyLaunch> alone) {
  reduced_ = *find_run(from, end->how().operand);
  end_ = std::move(end);
  end_alone_.assign(alone.begin(), alone.end());
}

void Chains::forget(uint64_t out) {
  for (size_t r = 0; r < count_; ++r) {
    if (runs_[r].out.begin == out) runs_[r].is_live = false;
  }
}

// All that the text and the numbers of the chain's launch depend on. How many
// runs there are, and so where their words end, comes first.
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

// Its operands are those of the chain, by their indices; its results those of
// the runs that are live.
std::optional<Launch> Chains::fuse(bool ends) const {
  Fusion fusion;
  std::vector<std::optional<Fusion::Id>> operands(operands_.size());
  std::vector<Fusion::Id> made;
  std::vector<Fusion::Id> results;
  std::vector<Slot> to;
  for (size_t r = 0; r < count_; ++r) {
    const Run& run = runs_[r];
    const Fusion& own = *run.link->what().fusion;
    std::vector<Fusion::Id> leaves;
    for (size_t k = 0; k < run.sources.size(); ++k) {
      const Source& s = run.sources[k];
      if (s.is_run) {
        leaves.push_back(made[s.index]);
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
    made.push_back(fusion.add_all(own, run.link->what().value, leaves));
    if (!run.is_live) continue;
    results.push_back(made.back());
    to.push_back(result(r));
  }
  if (!ends) return fusion.launch(results, to);
  return fusion.launch_reduced(made[reduced_], end_->how(), end_->first(),
                               results, to);
}

// One that comes for the first time is not compiled.
Chains::Form& Chains::form_of(bool ends, bool waits) {
  if (forms_.size() == kMostForms) forms_.clear();
  const auto [at, is_new] = forms_.try_emplace(signature(ends));
  Form& form = at->second;
  if (is_new) form.launch = fuse(ends);
  form.is_known = waits || !is_new;
  return form;
}

CUfunction Chains::function_of(Form& form, bool waits) {
  if (!form.launch || !form.is_known) return nullptr;
  if (!form.function) form.function = gpu_.function(form.launch->source);
  if (!waits && form.function->wait_for(std::chrono::seconds(0)) !=
                    std::future_status::ready) {
    return nullptr;
  }
  const Result<CUfunction>& function = form.function->get();
  if (function.ok()) return function.value();
  form.launch.reset();
  return nullptr;
}

// The form's function in the place of a launch's, whose results, so many, are
// the form's first.
ReadyLaunch Chains::ready(const Form& form, CUfunction function,
                          ReadyLaunch launch, size_t results) const {
  launch.function = function;
  launch.blocks = form.launch->blocks;
  launch.args.n = form.launch->n;
  const auto& in = form.launch->in;
  const auto& out = form.launch->out;
  for (size_t i = 0; i < in.size(); ++i) {
    launch.args.in[i] = operands_[in[i].index].word;
  }
  for (size_t i = results; i < out.size(); ++i) {
    launch.args.out[i] = runs_[out[i].index].out.begin;
  }
  return launch;
}

// The runs without an end: as one launch if it is compiled.
std::span<const ReadyLaunch> Chains::take_runs(bool waits) {
  const auto runs = std::span(runs_).first(count_);
  if (std::none_of(runs.begin(), runs.end(),
                   [](const Run& run) { return run.is_live; })) {
    return {};
  }
  if (count_ > 1) {
    Form& form = form_of(false, waits);
    if (const CUfunction function = function_of(form, waits)) {
      fused_ = ready(form, function, alone_[count_ - 1], 0);
      return {&fused_, 1};
    }
  }
  return std::span(alone_).first(count_);
}

// The runs and their end: the end's first launch does both if it is compiled.
// Until it is, each is a launch of its own; where it cannot be, the runs may be
// one without the end, which then reads what it was to compute.
std::span<const ReadyLaunch> Chains::take_whole(bool waits) {
  Form& form = form_of(true, waits);
  const CUfunction function = function_of(form, waits);
  if (function != nullptr) {
    end_alone_[0] = ready(form, function, end_alone_[0], 1);
    return end_alone_;
  }
  std::span<const ReadyLaunch> runs = std::span(alone_).first(count_);
  if (!form.launch) {
    runs_[reduced_].is_live = true;
    runs = take_runs(waits);
  }
  with_end_.assign(runs.begin(), runs.end());
  with_end_.insert(with_end_.end(), end_alone_.begin(), end_alone_.end());
  return with_end_;
}

std::span<const ReadyLaunch> Chains::take(bool waits) {
  const auto taken = end_ == nullptr ? take_runs(waits) : take_whole(waits);
  count_ = 0;
  operands_.clear();
  end_.reset();
  return taken;
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
