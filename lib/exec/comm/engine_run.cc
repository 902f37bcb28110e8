// One exchange, step by step.
#include <algorithm>
#include <cstring>
#include <utility>

#include "exec/comm/engine.h"
#include "exec/queue/interpreter.h"

namespace gt::comm {
namespace {

using Kind = PeerMessage::Kind;

constexpr size_t kWindow = 8;  // chunks that are asked for at a time

Tag tag_of(const ExchangeRun& op, size_t step, uint32_t source) {
  return {op.seq, op.exchange->group, static_cast<uint32_t>(step), source};
}

// An export's value: of the line's operand, or made in the step before.
struct Exported {
  const void* data = nullptr;
  Fault fault;
};
Exported value_of(const ExchangeRun& op, size_t step, size_t own) {
  if (step > 0) {
    const ExchangeRun::Made& made = op.made[step - 1][own];
    return {made.output == nullptr ? nullptr : made.output->data, made.fault};
  }
  const ExchangeRun::Shown& shown = op.shown[own];
  return {shown.value == nullptr ? nullptr : shown.value->data, shown.fault};
}

uint64_t steady_nanos() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::nanoseconds(now).count());
}

}  // namespace

void Engine::run(const OpPtr& op) {
  if (options_.watch != nullptr) began_ = steady_nanos();
  for (ExchangeRun::Shown& shown : op->shown) {
    if (shown.from == nullptr) continue;
    if (shown.fault == nullptr) {
      shown.fault = shown.from->result_fault(shown.from_target);
    }
    shown.from = nullptr;
  }
  const size_t steps = op->exchange->parts.size();
  for (size_t s = 0; s < steps; ++s) {
    show(op, s);
    for (size_t t = 0; t < op->made[s].size(); ++t) make(*op, s, t);
    say_read(*op, s);
  }
  forget_stale(*op);
  if (options_.watch != nullptr) tell(*op);
  finish(op);
}

// What one exchange reads of a worker is one transfer, from the first that is
// there to the last that is used.
void Engine::note_arrival(const Input& input, bool is_wanted) {
  const uint64_t now = steady_nanos();
  if (!std::exchange(has_arrived_, true)) began_ = now;
  const uint64_t bytes = input.region.bytes();
  if (!is_wanted || !options_.has_data || bytes == 0) return;
  const auto known = std::ranges::find(read_, input.worker, &Transferred::from);
  if (known != read_.end()) {
    known->bytes += bytes;
  } else {
    read_.push_back({input.worker, bytes, now, now});
  }
}

void Engine::note_use(const Target& target) {
  const uint64_t now = steady_nanos();
  for (const Input& input : target.inputs) {
    if (input.own >= 0) continue;
    const auto one = std::ranges::find(read_, input.worker, &Transferred::from);
    if (one != read_.end()) one->end = now;
  }
}

void Engine::tell(const ExchangeRun& op) {
  options_.watch->ran(op, began_, steady_nanos(), read_);
  has_arrived_ = false;
  read_.clear();
}

void Engine::show(const OpPtr& op, size_t step) {
  const std::vector<Export>& exports = op->exchange->parts[step].exports;
  for (size_t e = 0; e < exports.size(); ++e) {
    const Tag tag = tag_of(*op, step, exports[e].source);
    const Exported value = value_of(*op, step, e);
    Shown shown{op, value.data, exports[e].type, value.fault, {}};
    for (const unsigned worker : exports[e].readers) {
      if (peers_[worker].lost == nullptr) shown.readers.push_back(worker);
    }
    if (shown.readers.empty()) continue;
    const Shown copy = shown_.insert_or_assign(tag, shown).first->second;
    for (const unsigned worker : copy.readers) {
      ++op->unreleased;
      if (peers_[worker].unread++ == 0) {
        peers_[worker].unread_since = Clock::now();
      }
    }
    for (const unsigned worker : copy.readers) show_to(worker, tag, copy);
  }
}

void Engine::show_to(unsigned worker, const Tag& tag, const Shown& shown) {
  PeerMessage message;
  message.kind = shown.fault == nullptr ? Kind::kReady : Kind::kFail;
  message.tag = tag;
  message.type = shown.type;
  if (shown.fault != nullptr) {
    message.body = std::string_view(*shown.fault).substr(0, kMaxData);
  } else if (options_.arena != nullptr) {
    message.at = options_.arena->offset_of(shown.data).value_or(kNowhere);
  }
  send(worker, message);
}

void Engine::make(ExchangeRun& op, size_t step, size_t t) {
  const Target& target = op.exchange->parts[step].targets[t];
  ExchangeRun::Made& made = op.made[step][t];
  std::vector<const void*> arguments;
  for (size_t i = 0; i < target.inputs.size(); ++i) {
    const bool is_wanted = made.fault == nullptr && !made.is_shared;
    void* pack = nullptr;
    if (target.program != nullptr) {
      pack = made.packs.empty() ? nullptr : made.packs[i];
    } else if (made.output != nullptr) {
      pack = made.output->data;
    }
    Fault fault;
    arguments.push_back(
        read(op, step, target.inputs[i], pack, is_wanted, fault));
    if (made.fault == nullptr) made.fault = fault;
  }
  if (made.fault != nullptr || made.is_shared || !options_.has_data) return;
  if (target.program != nullptr) {
    run_program(op, target, made, arguments);
  } else if (!arguments.empty() && arguments[0] != made.output->data) {
    std::memcpy(made.output->data, arguments[0],
                target.inputs[0].region.bytes());
  }
  if (options_.watch != nullptr) note_use(target);
}

void Engine::run_program(ExchangeRun& op, const Target& target,
                         ExchangeRun::Made& made,
                         const std::vector<const void*>& arguments) {
  const Recipe& recipe = *target.program;
  std::vector<Value> own;  // whose error slots are this thread's
  for (const void* data : arguments) {
    own.push_back({const_cast<void*>(data), nullptr});  // NOLINT: only read
  }
  for (const Value* block : made.blocks) own.push_back({block->data, nullptr});
  std::vector<Value*> values;
  for (Value& value : own) values.push_back(&value);
  Interpreter().run(recipe, values, [&op](const Error& error) {
    return fail(op, error.message);
  });
  made.fault = values[static_cast<size_t>(recipe.results[0].value)]->fault;
}

// Waits until it is there; null when it has failed or is not wanted.
const void* Engine::read(ExchangeRun& op, size_t step, const Input& input,
                         void* pack, bool is_wanted, Fault& fault) {
  if (input.own >= 0) {
    return read_own(op, step, input, pack, is_wanted, fault);
  }
  const Tag tag = tag_of(op, step, input.source);
  std::map<Tag, Ready>& all = peers_[input.worker].ready;
  const auto is_ready = [&] { return all.count(tag) > 0; };
  const Fault lost = await(input.worker, &op,
                           op.exchange->name_of(step, input.source) + " from " +
                               name_of(input.worker),
                           is_ready);
  if (lost != nullptr) {
    fault = fail(
        op, *lost + "; it has the " + op.exchange->name_of(step, input.source),
        Exit::kLost);
    return nullptr;
  }
  const Ready& ready = all.at(tag);
  fault = ready.fault;
  if (fault != nullptr) return nullptr;
  if (!(ready.type == input.of)) {
    fault = fail(op, name_of(input.worker) + " has " + to_string(ready.type) +
                         " where " + to_string(input.of) + " was expected");
    return nullptr;
  }
  if (options_.watch != nullptr) note_arrival(input, is_wanted);
  if (!is_wanted || !options_.has_data) return nullptr;
  if (ready.at != kNowhere && peers_[input.worker].memory != nullptr) {
    return read_mapped(op, input, ready, pack, fault);
  }
  if (input.region.bytes() > 0) fault = fetch(op, tag, input, pack);
  return pack;
}

const void* Engine::read_own(ExchangeRun& op, size_t step, const Input& input,
                             void* pack, bool is_wanted, Fault& fault) const {
  const Exported value = value_of(op, step, static_cast<size_t>(input.own));
  fault = value.fault;
  if (fault != nullptr || !is_wanted || value.data == nullptr ||
      !options_.has_data) {
    return nullptr;
  }
  const Runs& region = input.region;
  if (region.is_contiguous()) {
    return static_cast<const char*>(value.data) + region.offset();
  }
  region.pack(value.data, 0, region.bytes(), pack);
  return pack;
}

const void* Engine::read_mapped(ExchangeRun& op, const Input& input,
                                const Ready& ready, void* pack, Fault& fault) {
  const void* whole =
      peers_[input.worker].memory->at(ready.at, input.of.bytes());
  if (whole == nullptr) {
    lose(input.worker,
         name_of(input.worker) + " sent a message that cannot be: offset " +
             std::to_string(ready.at) + " is not within its memory");
    fault = fail(op, *peers_[input.worker].lost, Exit::kLost);
    return nullptr;
  }
  const Runs& region = input.region;
  if (region.is_contiguous()) {
    return static_cast<const char*>(whole) + region.offset();
  }
  region.pack(whole, 0, region.bytes(), pack);
  return pack;
}

// Several chunks are on their way at a time, and no more than that.
Fault Engine::fetch(ExchangeRun& op, const Tag& tag, const Input& input,
                    void* to) {
  const size_t bytes = input.region.bytes();
  const std::string what = op.exchange->name_of(tag.step, input.source) +
                           " from " + name_of(input.worker);
  Fault lost;
  for (size_t first = 0; lost == nullptr;) {
    while (first < bytes && chunks_.size() < kWindow) {
      PeerMessage get;
      get.kind = Kind::kGet;
      get.id = ++last_id_;
      get.tag = tag;
      get.first = first;
      get.bytes = std::min(kMaxData, bytes - first);
      get.start = input.start;
      get.count = input.count;
      chunks_[get.id] = {input.worker, static_cast<char*>(to) + first,
                         get.bytes};
      first += get.bytes;
      send(input.worker, get);
    }
    if (chunks_.empty()) return nullptr;
    const size_t before = chunks_.size();
    lost =
        await(input.worker, &op, what, [&] { return chunks_.size() < before; });
  }
  chunks_.clear();
  return fail(op, *lost, Exit::kLost);
}

// Each export once, however many targets of ours have read it.
void Engine::say_read(const ExchangeRun& op, size_t step) {
  for (const Target& target : op.exchange->parts[step].targets) {
    for (const Input& input : target.inputs) {
      if (input.own >= 0) continue;
      const Tag tag = tag_of(op, step, input.source);
      if (peers_[input.worker].ready.erase(tag) > 0) {
        release(input.worker, tag);
      }
    }
  }
}

// What was shown here for nothing: of lines that were rejected here alone.
void Engine::forget_stale(const ExchangeRun& op) {
  const Tag next{op.seq, op.exchange->group + 1, 0, 0};
  for (unsigned w = 0; w < options_.workers; ++w) {
    std::map<Tag, Ready>& ready = peers_[w].ready;
    while (!ready.empty() && ready.begin()->first < next) {
      const Tag tag = ready.begin()->first;
      ready.erase(ready.begin());
      release(w, tag);
    }
  }
}

// Compute reports it at its place.
Fault Engine::fail(ExchangeRun& op, const std::string& why, Exit status) {
  const std::string message = op.exchange->op + ": " + why;
  if (!op.error) {
    op.error = Error{message, 0};
    op.status = status;
  }
  return std::make_shared<const std::string>(to_string(op.where.place()) +
                                             ": " + message);
}

}  // namespace gt::comm
