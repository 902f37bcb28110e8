#include "route/outbox.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/hash.h"

namespace gt::route {

Outbox::Outbox(uint32_t workers) : classes_(1), places_(workers) {
  classes_[0].workers.resize(workers);
  std::iota(classes_[0].workers.begin(), classes_[0].workers.end(), 0U);
  for (uint32_t w = 0; w < workers; ++w) places_[w].index = w;
}

void Outbox::add(const std::vector<uint32_t>& workers, uint64_t seq,
                 int64_t line, std::string_view text) {
  for (const uint32_t id : classes_of(workers)) {
    expect(id);
    Class& c = classes_[id];
    if (c.block != block_) open_block(id);
    c.body.add(seq, line, text);
    check_due(id);
  }
}

// The class is about to get a line.
void Outbox::expect(uint32_t id) {
  if (!classes_[id].body.empty()) return;
  ++pending_;
  if (idle_ == id) idle_ = kNone;
}

void Outbox::check_due(uint32_t id) {
  Class& c = classes_[id];
  if (block_ != 0 && c.body.size() >= kMostHeld) return drop_block();
  const bool is_full = block_ == 0 && c.body.size() >= kFullBody;
  if (c.is_due || !(is_full || c.body.bytes() >= kMostRounds)) return;
  c.is_due = true;
  due_.push_back(id);
}

// ---- blocks -----------------------------------------------------------------

void Outbox::begin_block() {
  drop_block();
  block_ = ++blocks_begun_;
}

void Outbox::open_block(uint32_t id) {
  classes_[id].block = block_;
  if (block_ == 0) return;
  classes_[id].body.begin_block();
  touched_.push_back(id);
}

bool Outbox::end_block() {
  bool is_whole = block_ != 0;
  for (const uint32_t id : touched_) {
    is_whole = classes_[id].body.end_block(blocks_) && is_whole;
  }
  ended_.clear();
  for (const uint32_t id : touched_) {
    if (!is_whole) break;
    ended_.push_back({classes_[id].workers, classes_[id].body.last_round()});
  }
  drop_block();
  return is_whole;
}

void Outbox::repeat(uint64_t times, uint64_t seq_by, uint64_t line_by) {
  for (auto& [workers, part] : ended_) {
    if (!part.block->is_kept) part.block = blocks_.obtain(part.block->text);
    BodyPart next = part;
    next.seq += seq_by;
    next.line += static_cast<int64_t>(line_by);
    next.times = times;
    next.seq_by = seq_by;
    next.line_by = static_cast<int64_t>(line_by);
    part.seq += times * seq_by;
    part.line += static_cast<int64_t>(times * line_by);
    part.last = next.last += times * seq_by;
    for (const uint32_t id : classes_of(workers)) {
      expect(id);
      classes_[id].body.add_rounds(next);
      check_due(id);
    }
  }
}

void Outbox::drop_block() {
  block_ = 0;
  for (const uint32_t id : std::exchange(touched_, {})) {
    classes_[id].body.drop_block();
    check_due(id);
  }
}

// ---- classes ----------------------------------------------------------------

// The classes whose workers are these and no others; classes are split if need
// be. Valid until the next call.
std::span<const uint32_t> Outbox::classes_of(
    const std::vector<uint32_t>& workers) {
  if (workers.size() == 1) {
    const Place& place = places_[workers[0]];
    if (classes_[place.in].workers.size() == 1) return {&place.in, 1};
  }
  const std::string_view bytes(reinterpret_cast<const char*>(workers.data()),
                               workers.size() * sizeof(uint32_t));
  if (sets_.size() > kMaxSets) sets_.clear();
  Set& set = sets_[hash_bytes(bytes)];
  if (set.partition == partition_ && set.workers == workers) {
    return set.classes;
  }
  set.workers = workers;
  refine(workers, set.classes);
  set.partition = partition_;
  return set.classes;
}

// Splits classes until the workers are those of whole classes, which it
// returns.
void Outbox::refine(const std::vector<uint32_t>& workers,
                    std::vector<uint32_t>& classes) {
  classes.clear();
  for (const uint32_t w : workers) {
    if (classes_[places_[w].in].wanted++ == 0) classes.push_back(places_[w].in);
  }
  for (const uint32_t id : classes) {
    if (classes_[id].wanted < classes_[id].workers.size()) {
      const uint32_t part = obtain_class();
      classes_[part].body = classes_[id].body;
      classes_[part].block = classes_[id].block;
      if (block_ != 0 && classes_[id].block == block_) touched_.push_back(part);
      if (!classes_[part].body.empty()) ++pending_;
      classes_[id].part = part;
      ++partition_;
    }
  }
  for (const uint32_t w : workers) {
    const uint32_t part = classes_[places_[w].in].part;
    if (part != kNone) move(w, part);
  }
  for (uint32_t& id : classes) {
    const uint32_t part = classes_[id].part;
    classes_[id].wanted = 0;
    classes_[id].part = kNone;
    if (part != kNone) id = part;
  }
}

uint32_t Outbox::obtain_class() {
  if (unused_.empty()) {
    classes_.emplace_back();
    return static_cast<uint32_t>(classes_.size() - 1);
  }
  const uint32_t id = unused_.back();
  unused_.pop_back();
  return id;
}

void Outbox::move(uint32_t worker, uint32_t to) {
  Place& place = places_[worker];
  std::vector<uint32_t>& from = classes_[place.in].workers;
  from[place.index] = from.back();
  places_[from.back()].index = place.index;
  from.pop_back();
  std::vector<uint32_t>& workers = classes_[to].workers;
  place = {to, static_cast<uint32_t>(workers.size())};
  workers.push_back(worker);
}

// ---- departure --------------------------------------------------------------

std::vector<Outbox::Batch> Outbox::take(Take which) {
  std::vector<Batch> out;
  if (which == Take::kAll) drop_block();
  const std::vector<uint32_t> due = std::exchange(due_, {});
  if (which == Take::kFull) {
    for (const uint32_t id : due) {
      if (classes_[id].is_due) take(id, false, out);
    }
    return out;
  }
  for (uint32_t id = 0; pending_ > 0 && id < classes_.size(); ++id) {
    if (!classes_[id].body.empty()) take(id, which == Take::kAll, out);
  }
  return out;
}

void Outbox::take(uint32_t id, bool all, std::vector<Batch>& out) {
  Class& c = classes_[id];
  Batch batch{c.workers, c.body.take(all), 0};
  c.is_due = false;
  if (batch.parts.empty()) return;
  for (const BodyPart& part : batch.parts) {
    batch.last = std::max(batch.last, part.last);
  }
  out.push_back(std::move(batch));
  if (!c.body.empty()) return;
  --pending_;
  join_idle(id);
}

// The body of the class has left: its workers join the idle class.
void Outbox::join_idle(uint32_t id) {
  if (idle_ == kNone) {
    idle_ = id;
    return;
  }
  while (!classes_[id].workers.empty()) {
    move(classes_[id].workers.back(), idle_);
  }
  unused_.push_back(id);
  ++partition_;
}

}  // namespace gt::route
