#include "exec/comm/engine.h"

#include <unistd.h>

#include <utility>

#include "exec/queue/interpreter.h"

namespace gt::exec::comm {
namespace {

using Kind = PeerMessage::Kind;

// Gives the fault of the target's output, null if all went well.
Fault run_program(ExchangeRun& run, const Target& target,
                  const ExchangeRun::Made& made,
                  const std::vector<const void*>& arguments) {
  std::vector<Value> own;  // whose error slots are this thread's
  for (const void* data : arguments) {
    own.push_back({const_cast<void*>(data), nullptr});  // NOLINT: only read
  }
  for (const Value* block : made.blocks) own.push_back({block->data, nullptr});
  std::vector<Value*> values;
  for (Value& value : own) values.push_back(&value);
  const Recipe& recipe = *target.program;
  Interpreter().run(recipe, values, [&run](const Error& error) {
    return run.fail(error.message);
  });
  return values[static_cast<size_t>(recipe.results[0].value)]->fault;
}

}  // namespace

Engine::Engine(const EngineOptions& options)
    : options_(options),
      peers_(options.group, *this),
      exports_(peers_, options.arena, *options.device,
               [this](const RunPtr& run) { hand_back(run); }),
      imports_(peers_, options.group.workers, *options.device,
               options.watch == nullptr ? nullptr
                                        : &transfers_.emplace(*options.watch)),
      thread_([this] { loop(); }) {}

Engine::~Engine() {
  abort("the worker ends");
  is_ending_.store(true);
  options_.group.link->wake();
  thread_.join();
}

// ---- other threads ----------------------------------------------------------

Status Engine::connect() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return connected_.has_value(); });
  return *connected_;
}

void Engine::start(std::shared_ptr<ExchangeRun> run) {
  {
    const std::lock_guard lock(mutex_);
    started_.push_back(std::move(run));
  }
  options_.group.link->wake();
}

std::vector<std::shared_ptr<ExchangeRun>> Engine::take_finished() {
  const std::lock_guard lock(mutex_);
  return std::exchange(finished_, {});
}

void Engine::wait_finished() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !finished_.empty(); });
}

// ---- the thread -------------------------------------------------------------

void Engine::loop() {
  greet();
  for (;;) {
    if (peers_.is_aborted()) {
      peers_.each([this](unsigned worker) { exports_.drop_reader(worker); });
    }
    if (const RunPtr next = take_started()) {
      run(next);
    } else if (is_ending_.load()) {
      return;
    } else {
      // Others may ask, or say that they have read.
      peers_.listen(!exports_.empty());
      exports_.check_readers();
    }
  }
}

void Engine::greet() {
  PeerMessage hello;
  hello.kind = Kind::kHello;
  if (const Arena* arena = options_.arena) {
    hello.pid = static_cast<uint64_t>(::getpid());
    hello.fd = static_cast<uint64_t>(arena->fd());
    hello.size = arena->size();
    hello.token = arena->token();
  }
  peers_.each([&](unsigned worker) { peers_.send(worker, hello); });
  Status connected = ok_status();
  peers_.each([&](unsigned worker) {
    if (!connected.ok()) return;
    const Fault fault =
        peers_.await(worker, {0, 0, "to hear from " + peers_.name_of(worker)},
                     [this, worker] { return peers_.is_greeted(worker); });
    if (fault != nullptr) connected = Error{*fault};
  });
  {
    const std::lock_guard lock(mutex_);
    connected_ = connected;
  }
  changed_.notify_all();
}

Status Engine::take(unsigned from, const PeerMessage& message) {
  switch (message.kind) {
    case Kind::kHello:
      return imports_.take_hello(from, message);
    case Kind::kReady:
    case Kind::kFail:
      return imports_.take_ready(from, message);
    case Kind::kReleased:
      return exports_.take_released(from, message.tag);
    case Kind::kGet:
      return exports_.take_get(from, message);
    case Kind::kData:
      return imports_.take_data(from, message);
    default:
      return ok_status();
  }
}

void Engine::take_loss(unsigned worker) {
  imports_.take_loss(worker);
  exports_.drop_reader(worker);
}

Engine::RunPtr Engine::take_started() {
  const std::lock_guard lock(mutex_);
  if (started_.empty()) return nullptr;
  RunPtr run = std::move(started_.front());
  started_.pop_front();
  return run;
}

void Engine::finish(const RunPtr& run) {
  run->is_done.store(true);
  run->is_done.notify_all();
  if (run->unreleased == 0) hand_back(run);
}

void Engine::hand_back(const RunPtr& run) {
  {
    const std::lock_guard lock(mutex_);
    finished_.push_back(run);
  }
  changed_.notify_all();
}

// ---- an exchange ------------------------------------------------------------

void Engine::run(const RunPtr& run) {
  if (transfers_) transfers_->begin();
  if (run->operands_made) options_.device->wait_for(*run->operands_made);
  for (ExchangeRun::Shown& shown : run->shown) {
    if (shown.from == nullptr) continue;
    if (shown.fault == nullptr) {
      shown.fault = shown.from->result_fault(shown.from_target);
    }
    shown.from = nullptr;
  }
  for (size_t s = 0; s < run->exchange->parts.size(); ++s) {
    exports_.show(run, s);
    for (size_t t = 0; t < run->made[s].size(); ++t) make(*run, s, t);
    imports_.release(*run, s);
  }
  imports_.pass(*run);
  settle(*run);
  if (transfers_) transfers_->end(*run);
  finish(run);
}

// Others may read what the run made, and its memory may be used for something
// else, as soon as it is over.
void Engine::settle(ExchangeRun& run) {
  const Status s = options_.device->finish();
  if (s.ok()) return;
  const Fault fault = run.fail(s.error().message);
  for (std::vector<ExchangeRun::Made>& step : run.made) {
    for (ExchangeRun::Made& made : step) {
      if (made.fault == nullptr) made.fault = fault;
    }
  }
}

void Engine::make(ExchangeRun& run, size_t step, size_t t) {
  const Target& target = run.exchange->parts[step].targets[t];
  ExchangeRun::Made& made = run.made[step][t];
  void* output = made.output == nullptr ? nullptr : made.output->data;
  std::vector<const void*> arguments;
  for (size_t i = 0; i < target.inputs.size(); ++i) {
    const bool is_wanted = made.fault == nullptr && !made.is_shared;
    void* pack = target.program == nullptr ? output
                 : made.packs.empty()      ? nullptr
                                           : made.packs[i];
    Fault fault;
    arguments.push_back(
        read(run, step, target.inputs[i], pack, is_wanted, fault));
    if (made.fault == nullptr) made.fault = fault;
  }
  const bool has_data = options_.device->has_data();
  if (made.fault != nullptr || made.is_shared || !has_data) return;
  if (target.program != nullptr) {
    made.fault = run_program(run, target, made, arguments);
  } else if (!arguments.empty() && arguments[0] != output) {
    const Status s = options_.device->copy(arguments[0], output,
                                           target.inputs[0].region.bytes());
    if (!s.ok()) made.fault = run.fail(s.error().message);
  }
  if (transfers_) transfers_->used(target);
}

// The address of an input; null when it has failed or is not wanted.
const void* Engine::read(ExchangeRun& run, size_t step, const Input& input,
                         void* pack, bool is_wanted, Fault& fault) {
  if (input.own < 0) {
    return imports_.read(run, step, input, pack, is_wanted, fault);
  }
  const auto value = run.exported(step, static_cast<size_t>(input.own));
  fault = value.fault;
  const bool is_read = fault == nullptr && is_wanted && value.data != nullptr &&
                       options_.device->has_data();
  if (!is_read) return nullptr;
  const auto found = input.region.find(value.data, pack, *options_.device);
  if (found.ok()) return found.value();
  fault = run.fail(found.error().message);
  return nullptr;
}

}  // namespace gt::exec::comm
