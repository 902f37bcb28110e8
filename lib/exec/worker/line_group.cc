#include "exec/worker/line_group.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/hash.h"

namespace gt::exec {
namespace {

template <typename T>
void append(std::string& key, T value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

TaskRecord& record_of(std::vector<uint64_t>& task) {
  return *reinterpret_cast<TaskRecord*>(task.data());
}

}  // namespace

void LineGroup::hold(const LineEntry& entry, std::vector<uint64_t> task,
                     Buffer& made) {
  if (!lines_.empty() && !fits(entry, made)) compute_.let_go();
  Line line{entry.recipe, std::move(task), &made, {}, 0};
  Value** values = record_of(line.task).values();
  for (size_t k = 0; k < entry.operands.size(); ++k) {
    line.in.push_back(source_of(entry.operands[k], values[k]));
  }
  line.block = block_of(made);
  lines_.push_back(std::move(line));
  compute_.hold(*this);
}

// Whether the line may join the group. A kernel reads and writes tile by tile,
// so a result may lie where an argument did only if both have elements of the
// same size.
bool LineGroup::fits(const LineEntry& entry, const Buffer& made) const {
  const Recipe& first = *lines_[0].recipe;
  if (lines_.size() == kMost ||
      entry.recipe->fusible_elements != first.fusible_elements) {
    return false;
  }
  const auto lies_there = std::find_if(
      arguments_.begin(), arguments_.end(),
      [&made](const Argument& a) { return a.value == made.value; });
  return lies_there == arguments_.end() ||
         types_[lies_there->type].bytes() ==
             types_[entry.recipe->results[0].type].bytes();
}

int32_t LineGroup::source_of(const LineOperand& operand, Value* value) {
  for (size_t s = lines_.size(); s-- > 0;) {
    if (lines_[s].made->value == value) return ~static_cast<int32_t>(s);
  }
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i].value == value) return static_cast<int32_t>(i);
  }
  arguments_.push_back(
      {value, operand.is_register ? operand.stamp.type : kNoType});
  return static_cast<int32_t>(arguments_.size()) - 1;
}

int32_t LineGroup::block_of(Buffer& made) {
  auto it = std::find(blocks_.begin(), blocks_.end(), &made);
  if (it == blocks_.end()) it = blocks_.insert(it, &made);
  return static_cast<int32_t>(it - blocks_.begin());
}

// ---- what is enqueued -------------------------------------------------------

void LineGroup::enqueue() {
  const Recipe* recipe = lines_.size() > 1 ? obtain() : nullptr;
  if (recipe != nullptr) {
    enqueue_all(*recipe);
    fused_ += lines_.size();
  } else {
    for (const Line& line : lines_) enqueue_one(line);
  }
  lines_.clear();
  arguments_.clear();
  blocks_.clear();
}

std::vector<FusedStep> LineGroup::steps() const {
  std::vector<FusedStep> steps;
  std::vector<bool> is_written(blocks_.size());
  for (size_t s = lines_.size(); s-- > 0;) {
    const Line& line = lines_[s];
    const auto block = static_cast<size_t>(line.block);
    const bool is_read_later = line.made->references > 0 && !is_written[block];
    is_written[block] = true;
    steps.push_back({line.recipe->steps[0].kernel.get(), line.in,
                     is_read_later ? line.block : -1});
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

std::string LineGroup::key_of(std::span<const FusedStep> steps) const {
  std::string key;
  for (size_t s = 0; s < steps.size(); ++s) {
    append(key, lines_[s].recipe->id);
    append(key, lines_[s].block);
    append(key, steps[s].out);
    for (const int32_t source : steps[s].in) append(key, source);
  }
  return key;
}

// Returns the recipe of the whole group; null if there is no kernel for it. A
// recipe is deleted once the tasks that use it have run.
const Recipe* LineGroup::obtain() {
  const std::vector<FusedStep> all = steps();
  std::string key = key_of(all);
  const uint64_t hash = hash_bytes(key);
  if (const Known* known = known_.find(hash, key)) return known->recipe.get();
  auto known = std::make_unique<Known>(Known{std::move(key), make(all)});
  const Recipe* recipe = known->recipe.get();
  auto old = known_.insert(hash, std::move(known));
  if (old != nullptr) compute_.dispose(std::move(old));
  return recipe;
}

std::unique_ptr<Recipe> LineGroup::make(
    std::span<const FusedStep> steps) const {
  auto fused = backend_.fuse(steps);
  if (fused == nullptr) return nullptr;
  auto recipe = std::make_unique<Recipe>();
  recipe->op = lines_[0].recipe->op;
  recipe->arguments = static_cast<uint32_t>(arguments_.size());
  recipe->fused = std::move(fused);
  const auto first_block = static_cast<int32_t>(arguments_.size());
  for (const Buffer* block : blocks_) {
    recipe->blocks.push_back({block->size_class, kNoType, {}});
  }
  for (const Line& line : lines_) {
    if (recipe->cost > 0) recipe->further_ops.push_back(line.recipe->op);
    recipe->cost += line.recipe->cost;
    RecipeStep& step = recipe->steps.emplace_back();
    step.kernel = {line.recipe, line.recipe->steps[0].kernel.get()};
    step.out = {first_block + line.block};
    for (const int32_t source : line.in) {
      step.in.push_back(source >= 0
                            ? source
                            : first_block +
                                  lines_[static_cast<size_t>(~source)].block);
    }
  }
  return recipe;
}

void LineGroup::enqueue_one(const Line& line) {
  const size_t words = line.task.size();
  uint64_t* record = compute_.reserve(words);
  std::memcpy(record, line.task.data(), words * sizeof(uint64_t));
  compute_.commit(words, line.recipe->cost);
}

// Enqueues one task, which stands for the first line in messages.
void LineGroup::enqueue_all(const Recipe& recipe) {
  const size_t words = kTaskWords + arguments_.size() + blocks_.size();
  uint64_t* record = compute_.reserve(words);
  auto& task = *reinterpret_cast<TaskRecord*>(record);
  task = record_of(lines_[0].task);
  task.head.words = words & 0xffff;
  task.recipe = &recipe;
  Value** to = task.values();
  for (const Argument& argument : arguments_) *to++ = argument.value;
  for (const Buffer* block : blocks_) *to++ = block->value;
  compute_.commit(words, recipe.cost);
}

}  // namespace gt::exec
