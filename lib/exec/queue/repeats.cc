#include "exec/queue/repeats.h"

#include <algorithm>
#include <utility>

namespace gt::exec {
namespace {

// Hashes the address of a task's text, which stands for its decoded line (or a
// part of it). That another line may have had its text at that address before
// does no harm, since the finder only guesses.
uint64_t hash_of(const TaskRecord& task) {
  return reinterpret_cast<uint64_t>(task.text) * 0x9e3779b97f4a7c15U >> 16;
}

}  // namespace

bool Repeats::hold(TaskRecord& task) {
  const BlockFinder::Step step = finder_.next(hash_of(task));
  if (step.breaks) run_held();
  if (step.begins != 0) id_ = step.begins;
  if (!finder_.is_inside() && !step.ends) return false;
  held_.add(task);
  note(task);
  if (step.ends) run_block();
  return true;
}

void Repeats::hold(const ForgetRecord& forget) {
  held_.add(forget);
  identity_.push_back(0);  // no recipe has the id 0
  identity_.push_back(reinterpret_cast<uint64_t>(forget.data));
}

void Repeats::cut() {
  finder_.cut();
  run_held();
}

void Repeats::note(TaskRecord& task) {
  const Recipe& recipe = *task.recipe;
  identity_.push_back(recipe.id);
  const size_t first = identity_.size();
  for (const Value* value : task.all_values()) {
    identity_.push_back(reinterpret_cast<uint64_t>(value->data));
  }
  for (const uint32_t i : recipe.numbers) {
    identity_[first + i] =
        *static_cast<const uint64_t*>(task.values()[i]->data);
  }
}

void Repeats::run_held() {
  if (held_.empty()) return;
  runner_.run_each(held_);
  forget_held();
}

void Repeats::forget_held() {
  held_.clear();
  identity_.clear();
  runner_.ran_held();
}

void Repeats::run_block() {
  Block& block = obtain_block();
  const Recording* recording = find(block);
  if (recording != nullptr) {
    block.misses = std::max(0, block.misses - 1);
  } else {
    recording = record(block);
  }
  if (recording == nullptr || !runner_.replay(held_, *recording)) {
    return run_held();
  }
  ++replayed_;
  forget_held();
}

// Returns the record of block id_. If there are too many blocks, the least
// recently used is dropped.
Repeats::Block& Repeats::obtain_block() {
  if (blocks_.size() >= kMostBlocks && !blocks_.contains(id_)) drop_oldest();
  Block& block = blocks_[id_];
  block.used = ++turn_;
  return block;
}

// Drops the least recently used block.
void Repeats::drop_oldest() {
  const auto oldest = std::min_element(blocks_.begin(), blocks_.end(),
                                       [](const auto& a, const auto& b) {
                                         return a.second.used < b.second.used;
                                       });
  for (const Known& known : oldest->second.known) tasks_ -= known.tasks;
  blocks_.erase(oldest);
}

const Repeats::Recording* Repeats::find(Block& block) {
  for (auto it = block.known.begin(); it != block.known.end(); ++it) {
    if (it->identity != identity_) continue;
    std::rotate(it, it + 1, block.known.end());
    return block.known.back().recording.get();
  }
  return nullptr;
}

// Records the block, in place of its least recently used recording if it has
// kRecordings.
const Repeats::Recording* Repeats::record(Block& block) {
  if (block.misses >= kMostMisses) return nullptr;
  ++block.misses;
  std::unique_ptr<Recording> old;
  if (block.known.size() >= kRecordings) {
    old = std::move(block.known.front().recording);
    tasks_ -= block.known.front().tasks;
    block.known.erase(block.known.begin());
  }
  auto made = runner_.record(held_, std::move(old));
  if (made == nullptr) return nullptr;
  ++recorded_;
  block.known.push_back({identity_, held_.size(), std::move(made)});
  tasks_ += held_.size();
  while (tasks_ > kMostTasks && blocks_.size() > 1) drop_oldest();
  return block.known.back().recording.get();
}

}  // namespace gt::exec
