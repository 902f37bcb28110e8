#include "exec/worker/exchanges.h"

#include <algorithm>

#include "exec/comm/jobs.h"

namespace gt::exec {
namespace {

using comm::ExchangeRun;

size_t bytes_held(const ExchangeRun& run) {
  size_t bytes = 0;
  for (const Buffer* buffer : run.held) {
    bytes += class_bytes(buffer->size_class);
  }
  return bytes;
}

// Returns why result `t` will not be made, if that is known before the exchange
// runs; else null.
Fault known_fault(const ExchangeRun& run, size_t t) {
  if (run.made.back()[t].fault != nullptr) return run.made.back()[t].fault;
  // The output shares an operand's buffer: this follows it back through the
  // parts to the fault of a target or of the operand.
  for (size_t s = run.made.size(); s-- > 0;) {
    const auto own =
        static_cast<size_t>(run.exchange->parts[s].targets[t].inputs[0].own);
    if (s == 0) return run.shown[own].fault;
    t = own;
    if (run.made[s - 1][t].fault != nullptr) return run.made[s - 1][t].fault;
  }
  return nullptr;
}

}  // namespace

Exchanges::Exchanges(const Attachment& attachment, ComputeQueue& compute,
                     Pool& pool, Registers& registers, LineTrace& trace)
    : compute_(compute),
      pool_(pool),
      registers_(registers),
      trace_(trace),
      self_(attachment.self),
      workers_(attachment.workers),
      communicator_(attachment.communicator),
      engine_(attachment.communicator, attachment.backend.device(),
              attachment.watch) {}

Status Exchanges::fence(const net::FenceLine& fence, const Where& origin) {
  const unsigned last = std::max(fence.from, std::ranges::max(fence.to));
  if (last >= workers_) {
    return Error{"#fence: '" + std::to_string(last) + "' is no worker"};
  }
  comm::Transfer transfer;
  transfer.from = fence.from;
  transfer.to = fence.to;
  transfer.type = {Dtype::kU8, {0}};
  transfer.what = "lines before";
  std::erase(transfer.to, transfer.from);
  auto exchange = comm::make_exchange(transfer, self_);
  exchange->op = "fence";
  LineEntry entry;
  entry.label = fence.file;
  entry.crossing = std::make_unique<LineExchange>();
  const comm::Part& part = exchange->parts[0];
  if (!part.exports.empty()) {
    entry.operands.emplace_back();
    entry.crossing->faults.emplace_back();
    compute_.add(flush_job());  // writes out the saves that wait
  }
  const bool waits = !part.targets.empty();
  entry.crossing->exchange = std::move(exchange);
  const auto run = begin(entry, origin);
  if (!waits) return ok_status();
  adopt(*run);
  if (!fence.file.empty()) {
    compute_.add(comm::take_saves_job(run, fence.file));
  }
  return ok_status();
}

void Exchanges::group(std::vector<comm::Workers> sets, const Where& origin) {
  auto exchange = std::make_shared<comm::Exchange>();
  exchange->op = "mesh";
  exchange->groups = std::move(sets);
  LineEntry entry;
  entry.crossing = std::make_unique<LineExchange>();
  entry.crossing->exchange = std::move(exchange);
  (void)begin(entry, origin);
}

// ---- an exchange ------------------------------------------------------------

std::shared_ptr<ExchangeRun> Exchanges::begin(LineEntry& entry,
                                              const Where& origin) {
  reap();
  auto run = std::make_shared<ExchangeRun>();
  run->exchange = entry.crossing->exchange;
  run->seq = compute_.seq();
  run->where = origin;
  trace_.add_text(entry, *run);
  show(entry, *run);
  make_room(entry, *run);
  bind_made(entry, *run);
  start(run);
  return run;
}

// Adds the operands to the run, failed ones too, since other workers wait for
// them.
void Exchanges::show(const LineEntry& entry, ExchangeRun& run) {
  for (size_t e = 0; e < entry.operands.size(); ++e) {
    ExchangeRun::Shown& shown = run.shown.emplace_back();
    const LineOperand& operand = entry.operands[e];
    const std::string& why = entry.crossing->faults[e];
    if (!why.empty()) {
      shown.fault = compute_.fail(run.where, {why, entry.op_column}, entry.text,
                                  Exit::kRejected);
      run.operands.push_back(nullptr);
      continue;
    }
    if (!operand.is_register) {  // a fence has no values
      if (!entry.label.empty()) {
        compute_.add(comm::tell_saves_job(run.shared_from_this(), entry.label));
      }
      run.operands.push_back(nullptr);
      continue;
    }
    const Register& r = registers_[operand.id];
    run.operands.push_back(r.buffer);
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
    run.held.push_back(r.buffer);
  }
}

// Takes memory for all outputs, step by step. A target for which there is no
// memory fails, and the exchange goes on.
void Exchanges::make_room(const LineEntry& entry, ExchangeRun& run) {
  std::vector<Buffer*> values = run.operands;
  for (const comm::Part& part : run.exchange->parts) {
    std::vector<Buffer*> outputs;
    std::vector<ExchangeRun::Made>& all = run.made.emplace_back();
    for (const comm::Target& target : part.targets) {
      ExchangeRun::Made& made = all.emplace_back();
      if (target.is_shared()) {
        Buffer* value = values[static_cast<size_t>(target.inputs[0].own)];
        made.is_shared = true;
        if (value != nullptr) made.output = value->value;
        outputs.push_back(value);
        continue;
      }
      if (!target.lack.empty()) {
        made.fault = compute_.fail(run.where, {target.lack, entry.op_column},
                                   entry.text, Exit::kRejected);
        outputs.push_back(nullptr);
        continue;
      }
      Buffer* output = hold_target(target, run, made);
      if (output == nullptr) {
        const std::string why =
            run.exchange->op + ": " +
            pool_.shortage(target.output, target.output.bytes());
        made.fault = compute_.fail(run.where, {why, entry.op_column},
                                   entry.text, Exit::kFailed);
      } else {
        made.output = output->value;
      }
      outputs.push_back(output);
    }
    values = std::move(outputs);
  }
  run.results = std::move(values);
}

// Returns the buffer of the target's output; null if there is not enough
// memory.
Buffer* Exchanges::hold_target(const comm::Target& target, ExchangeRun& run,
                               ExchangeRun::Made& made) {
  if (target.program == nullptr) {
    return hold(size_class_of(target.output.bytes()), run);
  }
  for (const comm::Input& input : target.inputs) {
    const bool is_fetched =
        input.own < 0 && !communicator_.is_in_place(input.worker);
    made.packs.push_back(nullptr);
    if (!is_fetched && input.region.is_contiguous()) continue;
    const Buffer* pack = hold(size_class_of(input.region.bytes()), run);
    if (pack == nullptr) return nullptr;
    made.packs.back() = pack->value->data;
  }
  const Recipe& recipe = *target.program;
  std::vector<Buffer*> blocks;
  for (const Block& block : recipe.blocks) {
    blocks.push_back(hold(block.size_class, run));
    if (blocks.back() == nullptr) return nullptr;
    made.blocks.push_back(blocks.back()->value);
  }
  return blocks[static_cast<size_t>(recipe.results[0].value) -
                recipe.arguments];
}

// Takes a buffer that the run holds.
Buffer* Exchanges::hold(uint32_t size_class, ExchangeRun& run) {
  Buffer* buffer = pool_.allocate(size_class);
  if (buffer == nullptr) return nullptr;
  Pool::retain(buffer);
  run.held.push_back(buffer);
  return buffer;
}

// Binds registers to the future results, or to failures that are known already.
void Exchanges::bind_made(const LineEntry& entry, ExchangeRun& run) {
  for (size_t i = 0; i < entry.results.size(); ++i) {
    const uint32_t t = entry.crossing->targets[i];
    Buffer* buffer = run.results[t];
    if (buffer == nullptr) {
      registers_.fail(entry.results[i].id, known_fault(run, t));
      continue;
    }
    Pool::retain(buffer);
    registers_.bind(entry.results[i].id, buffer, entry.crossing->types[i]);
  }
}

void Exchanges::start(const std::shared_ptr<ExchangeRun>& run) {
  // A result that shares an operand's buffer is not made by this exchange:
  // whoever reads it waits for the exchange that makes the operand, if there is
  // one.
  for (size_t t = 0; t < run->results.size(); ++t) {
    Buffer* buffer = run->results[t];
    const bool is_operand =
        std::find(run->operands.begin(), run->operands.end(), buffer) !=
        run->operands.end();
    if (buffer == nullptr || is_operand) {
      run->results[t] = nullptr;
    } else {
      buffer->pending = run.get();
    }
  }
  ++unadopted_;
  ++outstanding_;
  held_ += bytes_held(*run);
  compute_.add(comm::start_job(engine_, run), Queue::kWakeCost);
}

void Exchanges::adopt(ExchangeRun& run) {
  if (run.is_adopted) return;
  run.is_adopted = true;
  --unadopted_;
  std::vector<Value*> results;
  for (Buffer* buffer : run.results) {
    results.push_back(buffer == nullptr ? nullptr : buffer->value);
    if (buffer != nullptr) buffer->pending = nullptr;
  }
  compute_.add(comm::adopt_job(run.shared_from_this(), std::move(results)),
               Queue::kWakeCost);
}

void Exchanges::adopt_each(const LineEntry& entry) {
  for (const LineOperand& operand : entry.operands) {
    if (!operand.is_register) continue;
    const Buffer* buffer = registers_[operand.id].buffer;
    if (buffer != nullptr && buffer->pending != nullptr) {
      adopt(*buffer->pending);
    }
  }
}

// ---- what was lent comes back -----------------------------------------------

void Exchanges::reap() {
  if (outstanding_ == 0) return;
  for (const auto& run : engine_.take_finished()) {
    if (run->results.empty() && !run->error && !run->is_adopted) {
      run->is_adopted = true;  // compute does not need to wait for it
      --unadopted_;
    }
    adopt(*run);
    held_ -= bytes_held(*run);
    for (Buffer* buffer : run->held) pool_.drop(buffer);
    --outstanding_;
  }
  while (is_full()) wait_and_reap();
}

bool Exchanges::wait_and_reap() {
  if (outstanding_ == 0) return false;
  compute_.kick();
  engine_.wait_finished();
  const size_t before = outstanding_;
  reap();
  return outstanding_ < before;
}

}  // namespace gt::exec
