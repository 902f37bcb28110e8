// What a worker does with others: the decoding thread's side of exchanges.
//
// The results of an exchange are bound at once, to memory that is not written
// yet; their buffers say so (Buffer::pending). The first line that reads one
// makes compute wait. All memory of an exchange is referenced until it was
// taken back here (reap), which needs all others to have read it.
#include <algorithm>

#include "base/text.h"
#include "exec/comm/jobs.h"
#include "exec/queue/jobs.h"
#include "exec/worker/worker.h"
#include "spmd/labels.h"

namespace gt {
namespace {

using Action = LineEntry::Action;
using comm::ExchangeRun;

std::string_view next_word(std::string_view& text) {
  return take_word(text, " \t,");
}

}  // namespace

Worker::~Worker() {
  if (attached_ != nullptr) attached_->engine.abort("the worker ends");
  queue_.drain();
}

void Worker::attach(const Attachment& attachment) {
  const comm::EngineOptions options{attachment.self,     attachment.workers,
                                    &attachment.link,    attachment.arena,
                                    backend_.has_data(), attachment.names,
                                    attachment.patience, attachment.watch};
  attached_ = std::make_unique<Attached>(
      options, BuilderContext{attachment.backend, types_, saves_}, caches_);
  placed_decoder_.join(attached_->hosting, attached_->programs);
}

Status Worker::meet() {
  return attached_ == nullptr ? ok_status() : attached_->engine.connect();
}

void Worker::idle() {
  reap();
  queue_.kick();
}

comm::Waiting Worker::waiting() const {
  return attached_ == nullptr ? comm::Waiting{} : attached_->engine.waiting();
}

void Worker::abort(const std::string& why) {
  if (attached_ != nullptr) attached_->engine.abort(why);
}

std::function<bool(int64_t)> Worker::own_ranks(const Line& line) const {
  if (attached_ == nullptr) return {};
  return [this, &line](int64_t rank) {
    return attached_->hosting.is_mine(space_name(line), rank);
  };
}

uint64_t Worker::placement_version() const {
  return meshes_.version() +
         (attached_ == nullptr ? 0 : attached_->hosting.version());
}

// ---- comments that workers heed ---------------------------------------------

void Worker::take_control(std::string_view text, const Where& origin) {
  Status taken = ok_status();
  if (text.starts_with("#ranks ")) {
    taken = attached_->hosting.take(text.substr(7));
  } else if (text.starts_with("#fence ")) {
    taken = take_fence(text.substr(7), origin);
  }
  if (taken.ok()) return;
  enqueue_job(
      report_job(origin, taken.error(), std::string(text), Exit::kRejected),
      kJobCost);
}

// "#fence FROM TO,... FILE": what follows on TO waits until FROM has come so
// far, and knows what failed in the file.
Status Worker::take_fence(std::string_view words, const Where& origin) {
  std::vector<unsigned> workers;
  const size_t quoted = std::min(words.find('"'), words.size());
  const std::string file = unquote(words.substr(quoted));
  words = words.substr(0, quoted);
  for (auto word = next_word(words); !word.empty(); word = next_word(words)) {
    unsigned number = 0;
    if (!read_number(word, number) || number >= attached_->hosting.workers()) {
      return Error{"#fence: '" + std::string(word) + "' is no worker"};
    }
    workers.push_back(number);
  }
  if (workers.size() < 2) return Error{"usage: #fence FROM TO,... FILE"};
  comm::Transfer transfer;
  transfer.from = workers[0];
  transfer.to.assign(workers.begin() + 1, workers.end());
  transfer.type = {Dtype::kU8, {0}};
  transfer.what = "the lines before";
  std::erase(transfer.to, transfer.from);
  auto exchange = comm::make_exchange(transfer, attached_->hosting.self());
  exchange->op = "fence";
  LineEntry entry;
  entry.text = "";
  entry.label = file;
  entry.crossing = std::make_unique<LineExchange>();
  const comm::Part& part = exchange->parts[0];
  if (!part.exports.empty()) {
    entry.operands.emplace_back();
    entry.crossing->faults.emplace_back();
    enqueue_job(flush_job(), kJobCost);  // saves that wait are written
  }
  const bool waits = !part.targets.empty();
  entry.crossing->exchange = std::move(exchange);
  const auto op = begin(entry, origin);
  if (!waits) return ok_status();
  adopt(*op);
  if (!file.empty()) enqueue_job(comm::take_saves_job(op, file), kJobCost);
  return ok_status();
}

// ---- an exchange ------------------------------------------------------------

// print and save of what was put together from several workers.
void Worker::output_exchanged(LineEntry& entry, const Where& origin) {
  const auto op = begin(entry, origin);
  adopt(*op);
  adopt_operands(entry);  // of which it may be one
  const ExchangeRun::Made& made = op->made.back()[0];
  if (made.output != nullptr) {
    return output_value(entry, origin, types_[entry.crossing->types[0]].type,
                        *made.output);
  }
  if (entry.action != Action::kPrint) return;
  enqueue_job(print_failure_job(entry.label, *made.fault), kJobCost);
}

std::shared_ptr<ExchangeRun> Worker::begin(LineEntry& entry,
                                           const Where& origin) {
  reap();
  auto op = std::make_shared<ExchangeRun>();
  op->exchange = entry.crossing->exchange;
  op->seq = seq_;
  op->where = origin;
  trace_exchange(entry, *op);
  show(entry, *op);
  make_room(entry, *op);
  bind_made(entry, *op);
  start(op);
  return op;
}

// The operands, whatever became of them: others wait for them.
void Worker::show(const LineEntry& entry, ExchangeRun& op) {
  for (size_t e = 0; e < entry.operands.size(); ++e) {
    ExchangeRun::Shown& shown = op.shown.emplace_back();
    const LineOperand& operand = entry.operands[e];
    const std::string& why = entry.crossing->faults[e];
    if (!why.empty()) {
      enqueue_job(
          report_job(op.where, Error{why, 0}, entry.text, Exit::kRejected),
          kJobCost);
      shown.fault = std::make_shared<const std::string>(
          to_string(op.where.place()) + ": " + why);
      op.operands.push_back(nullptr);
      continue;
    }
    if (!operand.is_register) {  // of a fence
      if (!entry.label.empty()) {
        enqueue_job(comm::tell_saves_job(op.shared_from_this(), entry.label),
                    kJobCost);
      }
      op.operands.push_back(nullptr);
      continue;
    }
    const Register& r = registers_[operand.id];
    op.operands.push_back(r.buffer);
    if (r.has_failed()) {
      shown.fault = registers_.failure_of(operand.id);
      continue;
    }
    shown.value = r.buffer->value;
    if (r.buffer->pending != nullptr) {
      shown.from = r.buffer->pending->shared_from_this();
      const auto& results = shown.from->results;
      shown.from_target = static_cast<uint32_t>(
          std::find(results.begin(), results.end(), r.buffer) -
          results.begin());
    }
    Pool::retain(r.buffer);
    op.held.push_back(r.buffer);
  }
}

// Memory for all that is made, step by step. Where there is none, the target
// fails and the exchange goes on.
void Worker::make_room(const LineEntry& entry, ExchangeRun& op) {
  std::vector<Buffer*> values = op.operands;
  for (const comm::Part& part : op.exchange->parts) {
    std::vector<Buffer*> outputs;
    std::vector<ExchangeRun::Made>& all = op.made.emplace_back();
    for (const comm::Target& target : part.targets) {
      ExchangeRun::Made& made = all.emplace_back();
      if (target.is_shared()) {
        Buffer* value = values[static_cast<size_t>(target.inputs[0].own)];
        made.is_shared = true;
        if (value != nullptr) made.output = value->value;
        outputs.push_back(value);
        continue;
      }
      Buffer* output = hold_target(target, op, made);
      if (output == nullptr) {
        made.fault = no_memory(op.exchange->op, target.output,
                               target.output.bytes(), entry.text, op.where);
      } else {
        made.output = output->value;
      }
      outputs.push_back(output);
    }
    values = std::move(outputs);
  }
  op.results = std::move(values);
}

// The target's output; null when there is not enough memory.
Buffer* Worker::hold_target(const comm::Target& target, ExchangeRun& op,
                            ExchangeRun::Made& made) {
  if (target.program == nullptr) {
    return hold(size_class_of(target.output.bytes()), op);
  }
  for (const comm::Input& input : target.inputs) {
    const bool is_fetched =
        input.own < 0 && !attached_->engine.is_mapped(input.worker);
    made.packs.push_back(nullptr);
    if (!is_fetched && input.region.is_contiguous()) continue;
    const Buffer* pack = hold(size_class_of(input.region.bytes()), op);
    if (pack == nullptr) return nullptr;
    made.packs.back() = pack->value->data;
  }
  const Recipe& recipe = *target.program;
  std::vector<Buffer*> blocks;
  for (const Block& block : recipe.blocks) {
    blocks.push_back(hold(block.size_class, op));
    if (blocks.back() == nullptr) return nullptr;
    made.blocks.push_back(blocks.back()->value);
  }
  return blocks[static_cast<size_t>(recipe.results[0].value) -
                recipe.arguments];
}

Buffer* Worker::hold(uint32_t size_class, ExchangeRun& op) {
  Buffer* buffer = allocate(size_class);
  if (buffer == nullptr) return nullptr;
  Pool::retain(buffer);
  op.held.push_back(buffer);
  return buffer;
}

// Registers get their values-to-be, or the failures that are known already.
void Worker::bind_made(const LineEntry& entry, ExchangeRun& op) {
  for (size_t i = 0; i < entry.results.size(); ++i) {
    const uint32_t t = entry.crossing->targets[i];
    Buffer* buffer = op.results[t];
    if (buffer == nullptr) {
      registers_.fail(entry.results[i].id, known_fault(op, t));
      continue;
    }
    Pool::retain(buffer);
    registers_.bind(entry.results[i].id, buffer, entry.crossing->types[i]);
  }
}

Fault Worker::known_fault(const ExchangeRun& op, size_t t) {
  if (op.made.back()[t].fault != nullptr) return op.made.back()[t].fault;
  // The output is an operand, or what was made of none.
  for (size_t s = op.made.size(); s-- > 0;) {
    const auto own =
        static_cast<size_t>(op.exchange->parts[s].targets[t].inputs[0].own);
    if (s == 0) return op.shown[own].fault;
    t = own;
    if (op.made[s - 1][t].fault != nullptr) return op.made[s - 1][t].fault;
  }
  return nullptr;
}

void Worker::start(const std::shared_ptr<ExchangeRun>& op) {
  // A result that is an operand waits for what that waits for.
  for (size_t t = 0; t < op->results.size(); ++t) {
    Buffer* buffer = op->results[t];
    const bool is_operand = std::find(op->operands.begin(), op->operands.end(),
                                      buffer) != op->operands.end();
    if (buffer == nullptr || is_operand) {
      op->results[t] = nullptr;
    } else {
      buffer->pending = op.get();
    }
  }
  ++unadopted_;
  ++attached_->outstanding;
  attached_->held += bytes_held(*op);
  enqueue_job(comm::start_job(attached_->engine, op), Queue::kWakeCost);
}

// Compute waits here, unless it did before.
void Worker::adopt(ExchangeRun& op) {
  if (op.is_adopted) return;
  op.is_adopted = true;
  --unadopted_;
  std::vector<Value*> results;
  for (Buffer* buffer : op.results) {
    results.push_back(buffer == nullptr ? nullptr : buffer->value);
    if (buffer != nullptr) buffer->pending = nullptr;
  }
  enqueue_job(comm::adopt_job(op.shared_from_this(), std::move(results)),
              Queue::kWakeCost);
}

void Worker::adopt_operands(const LineEntry& entry) {
  for (const LineOperand& operand : entry.operands) {
    if (!operand.is_register) continue;
    const Buffer* buffer = registers_[operand.id].buffer;
    if (buffer != nullptr && buffer->pending != nullptr) {
      adopt(*buffer->pending);
    }
  }
}

// ---- what was lent comes back -----------------------------------------------

// When there is no memory, what others still read may give some.
Buffer* Worker::allocate(uint32_t size_class) {
  Buffer* buffer = pool_.allocate(size_class);
  while (buffer == nullptr && wait_and_reap()) {
    buffer = pool_.allocate(size_class);
  }
  return buffer;
}

void Worker::reap() {
  if (attached_ == nullptr || attached_->outstanding == 0) return;
  for (const auto& op : attached_->engine.take_finished()) {
    if (op->results.empty() && !op->error && !op->is_adopted) {
      op->is_adopted = true;  // compute has no use for it
      --unadopted_;
    }
    adopt(*op);
    attached_->held -= bytes_held(*op);
    for (Buffer* buffer : op->held) pool_.drop(buffer);
    --attached_->outstanding;
  }
  while (attached_->is_full()) wait_and_reap();
}

size_t Worker::bytes_held(const ExchangeRun& op) {
  size_t bytes = 0;
  for (const Buffer* buffer : op.held) bytes += class_bytes(buffer->size_class);
  return bytes;
}

// False when there is nothing to wait for.
bool Worker::wait_and_reap() {
  if (attached_ == nullptr || attached_->outstanding == 0) return false;
  queue_.kick();
  attached_->engine.wait_finished();
  const size_t before = attached_->outstanding;
  reap();
  return attached_->outstanding < before;
}

void Worker::reap_all() {
  while (wait_and_reap()) {
  }
}

}  // namespace gt
