#include "exec/worker/task_issuer.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "exec/backend/element.h"

namespace gt::exec {
namespace {

using Action = LineEntry::Action;

uint64_t cost_of_text(const Type& type) {
  return kJobCost + static_cast<uint64_t>(type.elements()) * 50;
}

}  // namespace

void TaskIssuer::issue(LineEntry& entry, const Where& origin) {
  switch (entry.action) {
    case Action::kRun:
      return entry.numbered != nullptr && knows_row(entry)
                 ? run_numbered(entry, origin)
                 : run(entry, origin);
    case Action::kFree:
      for (const LineOperand& o : entry.operands) registers_.release(o.id);
      return;
    case Action::kFail:
      return fail_results(entry,
                          std::make_shared<const std::string>(entry.label));
    case Action::kPrintFailure:
      return compute_.add(print_failure_job(entry.label, entry.message));
    case Action::kSaveFailure:
      return compute_.add(save_failure_job(entry.label, entry.message));
    case Action::kExchange:
      (void)exchanges_->begin(entry, origin);
      return;
    case Action::kParts:
      for (const auto& part : entry.parts) issue(*part, origin);
      return;
    case Action::kPrint:
    case Action::kSave:
      return entry.crossing != nullptr ? output_exchanged(entry, origin)
             : entry.recipe != nullptr ? output_made(entry, origin)
                                       : output(entry, origin);
  }
}

void TaskIssuer::run(LineEntry& entry, const Where& origin) {
  const bool is_known =
      entry.on_host != nullptr && known_->compute(entry, registers_);
  if (!take_blocks(entry, origin)) return;
  const Recipe& recipe = *entry.recipe;
  if (!recipe.steps.empty()) {
    adopt_operands(entry);
    enqueue(entry, origin);
  } else if (trace_.is_on()) {  // the line only gives a value another name
    compute_.add(trace_.traced(nullptr, entry, origin, recipe.line_bytes), 0);
  }
  bind_results(entry);
  drop_blocks();
  if (is_known) known_->note(entry, registers_);
}

bool TaskIssuer::knows_row(const LineEntry& entry) const {
  return registers_[entry.operands[kRowOfLoad].id].buffer->is_known;
}

// Issues a load whose row is known, with the row as a number of the line. The
// number gets memory of its own each time, since tasks still on the queue have
// other numbers.
void TaskIssuer::run_numbered(LineEntry& entry, const Where& origin) {
  LineOperand& row = entry.operands[kRowOfLoad];
  const Register& r = registers_[row.id];
  auto number = std::make_unique<LineNumber>();
  const int64_t known =
      load_int(types_[r.stamp.type].dtype, &r.buffer->known, 0);
  number->bits = std::bit_cast<uint64_t>(known);
  number->value.data = &number->bits;
  const LineOperand kept = std::exchange(row, {false, 0, {}, &number->value});
  std::swap(entry.recipe, entry.numbered);
  run(entry, origin);
  std::swap(entry.recipe, entry.numbered);
  row = kept;
  compute_.dispose(std::move(number));
}

// ---- print and save ---------------------------------------------------------

void TaskIssuer::output(LineEntry& entry, const Where& origin) {
  adopt_operands(entry);
  const Register& r = registers_[entry.operands[0].id];
  write(entry, origin, types_[r.stamp.type], r.buffer);
}

// Prints or saves a whole tensor that the entry's recipe assembles on this
// worker.
void TaskIssuer::output_made(LineEntry& entry, const Where& origin) {
  if (!take_blocks(entry, origin)) {
    return fail_output(entry, to_string(origin.place()) + ": out of memory");
  }
  adopt_operands(entry);
  if (!entry.recipe->steps.empty()) enqueue(entry, origin);
  const RecipeResult& result = entry.recipe->results[0];
  write(entry, origin, types_[result.type], buffer_of(entry, result));
  drop_blocks();
}

// Prints or saves a whole tensor that an exchange assembles.
void TaskIssuer::output_exchanged(LineEntry& entry, const Where& origin) {
  const auto run = exchanges_->begin(entry, origin);
  exchanges_->adopt(*run);
  // The output may be an operand that another exchange makes.
  exchanges_->adopt_operands(entry);
  const comm::ExchangeRun::Made& made = run->made.back()[0];
  if (made.output == nullptr) return fail_output(entry, *made.fault);
  const auto output = std::find_if(
      run->held.begin(), run->held.end(),
      [&made](const Buffer* b) { return b->value == made.output; });
  write(entry, origin, types_[entry.crossing->types[0]], *output);
}

// Enqueues the failure of a print or save whose tensor cannot be assembled.
void TaskIssuer::fail_output(const LineEntry& entry, const std::string& why) {
  compute_.add(entry.action == Action::kPrint
                   ? print_failure_job(entry.label, why)
                   : save_failure_job(entry.label, why));
}

void TaskIssuer::write(LineEntry& entry, const Where& origin, const Type& type,
                       Buffer* buffer) {
  if (entry.action == Action::kSave) return save(entry, origin, type, buffer);
  ShownLine line{origin, entry.text, entry.op_column};
  std::unique_ptr<Job> job =
      print_job(std::move(line), entry.label, type, *buffer->value);
  if (trace_.is_on()) {
    job = trace_.traced(std::move(job), entry, origin,
                        static_cast<double>(type.bytes()));
  }
  compute_.add(std::move(job), cost_of_text(type));
}

void TaskIssuer::save(LineEntry& entry, const Where& origin, const Type& type,
                      Buffer* buffer) {
  Saves::Order order;
  order.line = {origin, entry.text, entry.op_column};
  order.path = entry.label;
  order.type = type;
  order.held = lent_.lend(buffer);
  if (trace_.is_on()) trace_.add_row(entry, order);
  compute_.add(save_job(std::move(order), *buffer->value));
}

// ---- memory -----------------------------------------------------------------

// Takes memory for the recipe's blocks: the memory of a name that the line
// rebinds, if nothing else refers to it, or other memory. False if there is not
// enough; then the results have failed.
bool TaskIssuer::take_blocks(const LineEntry& entry, const Where& origin) {
  blocks_.clear();
  const std::vector<Block>& blocks = entry.recipe->blocks;
  for (size_t b = 0; b < blocks.size(); ++b) {
    Buffer* buffer = lent_by(entry, b);
    if (buffer != nullptr) {
      buffer->is_known = false;
    } else {
      buffer = pool_.allocate(blocks[b].size_class);
    }
    if (buffer == nullptr) {
      drop_blocks();
      const std::string why = entry.recipe->op->name + ": " +
                              pool_.shortage(types_[blocks[b].type],
                                             class_bytes(blocks[b].size_class));
      fail_results(entry, compute_.fail(origin, {why, entry.op_column},
                                        entry.text, Exit::kFailed));
      return false;
    }
    Pool::retain(buffer);
    blocks_.push_back(buffer);
  }
  return true;
}

Buffer* TaskIssuer::lent_by(const LineEntry& entry, size_t block) const {
  const int32_t operand = entry.in_place[block];
  const int32_t result = entry.replaces[block];
  if (operand < 0 && result < 0) return nullptr;
  const RegisterId id = operand >= 0
                            ? entry.operands[static_cast<size_t>(operand)].id
                            : entry.results[static_cast<size_t>(result)].id;
  Buffer* buffer = registers_[id].buffer;
  const bool may_lend =
      buffer != nullptr && buffer->references == 1 &&
      buffer->size_class == entry.recipe->blocks[block].size_class;
  return may_lend ? buffer : nullptr;
}

void TaskIssuer::drop_blocks() {
  for (Buffer* buffer : blocks_) pool_.drop(buffer);
  blocks_.clear();
}

// ---- the task ---------------------------------------------------------------

void TaskIssuer::enqueue(LineEntry& entry, const Where& origin) {
  const Recipe& recipe = *entry.recipe;
  ++tasks_;
  flops_ += recipe.flops;
  if (group_.takes(recipe)) return hold(entry, origin);
  const TraceText* text =
      trace_.is_on() ? trace_.text_of_task(entry, origin) : nullptr;
  const size_t words =
      kTaskWords + entry.operands.size() + blocks_.size() + (text != nullptr);
  uint64_t* record = compute_.reserve(words);
  std::vector<uint64_t> great;
  if (record == nullptr) [[unlikely]] {
    great.resize(words);
    record = great.data();
  }
  reinterpret_cast<TaskRecord*>(record)->head =
      head_of(great.empty() ? words : 0, kTaskRecord, origin.line);
  fill(entry, origin, record);
  if (text != nullptr) record[words - 1] = reinterpret_cast<uint64_t>(text);
  if (great.empty()) {
    compute_.commit(words, recipe.cost);
  } else {
    compute_.add_great(std::move(great), recipe.cost);
  }
}

// Holds a line back that may be computed together with those behind it.
void TaskIssuer::hold(const LineEntry& entry, const Where& origin) {
  const size_t words = kTaskWords + entry.operands.size() + blocks_.size();
  std::vector<uint64_t> record(words);
  reinterpret_cast<TaskRecord*>(record.data())->head =
      head_of(words, kTaskRecord, origin.line);
  fill(entry, origin, record.data());
  group_.hold(entry, std::move(record), *blocks_[0]);
}

// Writes a task's record, except its head and its pointer for the trace.
void TaskIssuer::fill(const LineEntry& entry, const Where& origin,
                      uint64_t* record) {
  auto* task = reinterpret_cast<TaskRecord*>(record);
  task->file = origin.file;
  task->recipe = entry.recipe.get();
  task->text = entry.text.data();
  task->text_size = static_cast<uint32_t>(entry.text.size());
  task->op_column = entry.op_column;
  task->seq = compute_.seq();
  Value** to = task->values();
  for (const LineOperand& operand : entry.operands) {
    *to++ = operand.is_register ? registers_[operand.id].buffer->value
                                : operand.value;
  }
  for (const Buffer* buffer : blocks_) *to++ = buffer->value;
}

// ---- results ----------------------------------------------------------------

Buffer* TaskIssuer::buffer_of(const LineEntry& entry,
                              const RecipeResult& result) const {
  const auto value = static_cast<size_t>(result.value);
  const size_t arguments = entry.recipe->arguments;
  return value < arguments ? registers_[entry.operands[value].id].buffer
                           : blocks_[value - arguments];
}

void TaskIssuer::bind_results(const LineEntry& entry) {
  const std::vector<RecipeResult>& results = entry.recipe->results;
  if (results.size() == 1) {
    Buffer* buffer = buffer_of(entry, results[0]);
    Pool::retain(buffer);
    return registers_.bind(entry.results[0].id, buffer, results[0].type);
  }
  // Takes a reference to every new value before an old one is dropped, since
  // the old one may be among the new.
  const size_t blocks = blocks_.size();
  for (const RecipeResult& result : results) {
    blocks_.push_back(buffer_of(entry, result));
    Pool::retain(blocks_.back());
  }
  for (size_t r = 0; r < results.size(); ++r) {
    registers_.bind(entry.results[r].id, blocks_[blocks + r], results[r].type);
  }
  blocks_.resize(blocks);
}

void TaskIssuer::fail_results(const LineEntry& entry, const Fault& fault) {
  for (const LineResult& result : entry.results) {
    registers_.fail(result.id, fault);
  }
}

}  // namespace gt::exec
