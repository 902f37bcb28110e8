// The fast path: a line that was seen before, to the queue.
#include "exec/worker/worker.h"

#include <algorithm>
#include <cstring>

#include "base/hash.h"
#include "exec/queue/jobs.h"

namespace gt {
namespace {

using Action = LineEntry::Action;

uint64_t cost_of_text(const Type& type) {
  return kJobCost + static_cast<uint64_t>(type.elements()) * 50;
}

}  // namespace

Worker::Worker(Backend& backend, Files files, Writer& out, ReportSink reports,
               const WorkerOptions& options)
    : backend_(backend),
      saves_(std::move(files)),
      executor_(backend, saves_, out, std::move(reports), options.fail_fast,
                options.trace),
      queue_(executor_),
      pool_(backend, *this, options.memory),
      registers_(pool_),
      recipes_({backend_, types_, saves_}, options.caches),
      decoder_(registers_, types_, recipes_),
      placed_decoder_(decoder_, registers_, types_),
      lines_(options.caches ? kLineSets : 1),
      seen_(options.caches),
      caches_(options.caches),
      trace_(options.trace) {}

void Worker::line(std::string_view text, const std::string* file,
                  uint64_t number, uint64_t seq) {
  seq_ = seq;
  if (text.empty()) return;
  const Split parts = split_notes(text);
  if (parts.text.empty()) {
    if (!parts.notes.empty()) take_comment(parts.notes, file, number);
    return;
  }
  ++stats_.lines;
  const Where origin{file, number};
  const bool may_be_kept = caches_ && parts.text.size() <= kMaxCachedLine;
  const uint64_t hash = may_be_kept ? hash_bytes(parts.text) : 0;
  if (may_be_kept && parts.is_clean && run_cached(parts, hash, origin)) return;
  decode(text, parts, hash, origin);
}

bool Worker::run_cached(const Split& parts, uint64_t hash, Where origin) {
  LineEntry* entry = lines_.find(hash, parts.text);
  if (entry == nullptr || !is_valid(*entry)) return false;
  if (!parts.notes.empty()) {
    if (parts.notes != entry->notes && !check_notes(*entry, parts.notes)) {
      return false;
    }
    if (entry->at.file != nullptr) origin = entry->at;
  } else if (!entry->exchange_notes.empty()) {
    return false;
  } else if (trace_ != nullptr && !entry->notes.empty()) {
    take_notes(*entry, {}, {});
  }
  act(*entry, origin);
  return true;
}

bool Worker::is_valid(const LineEntry& entry) const {
  if (entry.action == Action::kParts) {
    return entry.mesh_version == placement_version() &&
           std::all_of(entry.parts.begin(), entry.parts.end(),
                       [this](const auto& part) { return is_valid(*part); });
  }
  for (const LineResult& result : entry.results) {
    if (registers_[result.id].stamp.generation != result.generation) {
      return false;
    }
  }
  if (entry.action == Action::kFree) {
    for (const LineOperand& operand : entry.operands) {
      const Register& r = registers_[operand.id];
      if (!r.is_live() || r.stamp.generation != operand.stamp.generation) {
        return false;
      }
    }
    return true;
  }
  for (const LineOperand& operand : entry.operands) {
    if (operand.is_register && registers_[operand.id].stamp != operand.stamp) {
      return false;
    }
  }
  return true;
}

void Worker::act(LineEntry& entry, Where origin) {
  switch (entry.action) {
    case Action::kRun:
      return run(entry, origin);
    case Action::kFree:
      for (const LineOperand& o : entry.operands) registers_.release(o.id);
      return;
    case Action::kFail:
      return fail_results(entry,
                          std::make_shared<const std::string>(entry.label));
    case Action::kPrintFailure:
      return enqueue_job(print_failure_job(entry.label, entry.message),
                         kJobCost);
    case Action::kExchange:
      (void)begin(entry, origin);
      return;
    case Action::kParts:
      for (const auto& part : entry.parts) act(*part, origin);
      return;
    case Action::kPrint:
    case Action::kSave:
      return entry.crossing != nullptr ? output_exchanged(entry, origin)
             : entry.recipe != nullptr ? output_made(entry, origin)
                                       : output(entry, origin);
  }
}

void Worker::output(LineEntry& entry, const Where& origin) {
  if (unadopted_ > 0) adopt_operands(entry);
  const Register& r = registers_[entry.operands[0].id];
  output_value(entry, origin, types_[r.stamp.type].type, *r.buffer->value);
}

void Worker::output_value(LineEntry& entry, const Where& origin,
                          const Type& type, const Value& value) {
  const bool prints = entry.action == Action::kPrint;
  std::unique_ptr<Job> job =
      prints ? print_job(entry.label, type, value)
             : save_job(origin, entry.text, entry.label, type, value);
  if (trace_ != nullptr) {
    job = traced(std::move(job), entry, origin,
                 static_cast<double>(type.bytes()));
  }
  enqueue_job(std::move(job), cost_of_text(type));
}

// print and save of what the entry's recipe puts together.
void Worker::output_made(LineEntry& entry, const Where& origin) {
  if (!take_blocks(entry, origin)) {
    if (entry.action != Action::kPrint) return;
    const std::string why = to_string(origin.place()) + ": out of memory";
    return enqueue_job(print_failure_job(entry.label, why), kJobCost);
  }
  if (unadopted_ > 0) adopt_operands(entry);
  if (!entry.recipe->steps.empty()) enqueue(entry, origin);
  const RecipeResult& result = entry.recipe->results[0];
  const auto value = static_cast<size_t>(result.value);
  const size_t arguments = entry.recipe->arguments;
  const Buffer* buffer = value < arguments
                             ? registers_[entry.operands[value].id].buffer
                             : blocks_[value - arguments];
  output_value(entry, origin, types_[result.type].type, *buffer->value);
  for (Buffer* block : blocks_) pool_.drop(block);
}

void Worker::run(LineEntry& entry, const Where& origin) {
  if (!take_blocks(entry, origin)) return;
  const Recipe& recipe = *entry.recipe;
  if (!recipe.steps.empty()) {
    if (unadopted_ > 0) adopt_operands(entry);
    enqueue(entry, origin);
  } else if (trace_ != nullptr) {  // another name of a value
    enqueue_job(traced(nullptr, entry, origin, recipe.line_bytes), 0);
  }
  bind_results(entry);
}

// Memory for what the recipe writes: of an operand that dies here, or new. Each
// block is referenced until the results are bound.
bool Worker::take_blocks(const LineEntry& entry, const Where& origin) {
  blocks_.clear();
  const std::vector<Block>& blocks = entry.recipe->blocks;
  for (size_t b = 0; b < blocks.size(); ++b) {
    Buffer* buffer = nullptr;
    if (entry.in_place[b] >= 0) {
      const auto lender = static_cast<size_t>(entry.in_place[b]);
      buffer = registers_[entry.operands[lender].id].buffer;
      if (buffer->references != 1) buffer = nullptr;
    }
    if (buffer == nullptr) buffer = allocate(blocks[b].size_class);
    if (buffer == nullptr) {
      out_of_memory(entry, origin, blocks[b]);
      return false;
    }
    Pool::retain(buffer);
    blocks_.push_back(buffer);
  }
  return true;
}

void Worker::enqueue(LineEntry& entry, const Where& origin) {
  const Recipe& recipe = *entry.recipe;
  const size_t values = recipe.arguments + blocks_.size();
  const size_t words = kTaskWords + values + (trace_ != nullptr ? 1 : 0);
  const TraceText* text =
      trace_ == nullptr
          ? nullptr
          : trace_text(entry, origin, recipe.line_bytes, recipe.line_flops);
  std::vector<uint64_t> big;  // of what does not fit into the ring
  if (words > Queue::kMaxRecord) big.resize(words);
  uint64_t* record = big.empty() ? queue_.reserve(words) : big.data();
  auto* task = reinterpret_cast<TaskRecord*>(record);
  task->head = head_of(big.empty() ? words : 0, kTaskRecord, origin.line);
  task->file = origin.file;
  task->recipe = &recipe;
  task->text = entry.text.data();
  task->text_size = entry.text.size();
  task->seq = seq_;
  Value** to = task->values();
  for (const LineOperand& operand : entry.operands) {
    *to++ = operand.is_register ? registers_[operand.id].buffer->value
                                : operand.value;
  }
  for (const Buffer* buffer : blocks_) *to++ = buffer->value;
  if (trace_ != nullptr) record[words - 1] = reinterpret_cast<uint64_t>(text);
  ++stats_.tasks;
  stats_.flops += recipe.flops;
  if (big.empty()) {
    queue_.commit(words, recipe.cost);
  } else {
    enqueue_job(task_job(std::move(big)), recipe.cost);
  }
}

void Worker::bind_results(const LineEntry& entry) {
  const Recipe& recipe = *entry.recipe;
  // All new values are held before an old one goes, which may be one of them.
  new_values_.clear();
  for (const RecipeResult& result : recipe.results) {
    const auto value = static_cast<size_t>(result.value);
    Buffer* buffer = value < recipe.arguments
                         ? registers_[entry.operands[value].id].buffer
                         : blocks_[value - recipe.arguments];
    Pool::retain(buffer);
    new_values_.push_back(buffer);
  }
  for (size_t r = 0; r < new_values_.size(); ++r) {
    registers_.bind(entry.results[r].id, new_values_[r],
                    recipe.results[r].type);
  }
  for (Buffer* buffer : blocks_) pool_.drop(buffer);
}

void Worker::enqueue_job(std::unique_ptr<Job> job, uint64_t cost) {
  uint64_t* record = queue_.reserve(kJobWords);
  auto* to = reinterpret_cast<JobRecord*>(record);
  to->head = head_of(kJobWords, kJobRecord, 0);
  to->job = job.release();
  to->seq = seq_;
  queue_.commit(kJobWords, cost);
}

void Worker::release_later(std::unique_ptr<Value> value, size_t bytes) {
  enqueue_job(release_job(std::move(value), bytes), kJobCost);
}

void Worker::drain() { queue_.drain(); }

void Worker::after_lines(std::function<void()> call) {
  enqueue_job(call_job(std::move(call)), kJobCost);
}

Exit Worker::finish() {
  reap_all();
  enqueue_job(flush_job(), kJobCost);
  queue_.drain();
  executor_.report_counts(marks_.opened());
  return executor_.status();
}

WorkerStats Worker::stats() const {
  WorkerStats stats = stats_;
  stats.peak_bytes = pool_.peak();
  return stats;
}

}  // namespace gt
