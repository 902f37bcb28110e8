#include "exec/comm/engine.h"

#include <utility>

#include "exec/queue/interpreter.h"

namespace gt::exec::comm {
namespace {

// Runs the target's program on these arguments. Returns the fault of its
// output, null if all went well.
Fault run_program(Device& device, ExchangeRun& run, const Target& target,
                  const ExchangeRun::Made& made,
                  const std::vector<const void*>& arguments) {
  // Copies, since `fault` of a shared Value belongs to compute.
  std::vector<Value> own;
  for (const void* data : arguments) {
    own.push_back({const_cast<void*>(data), nullptr});  // NOLINT: only read
  }
  for (const Value* block : made.blocks) own.push_back({block->data, nullptr});
  std::vector<Value*> values;
  for (Value& value : own) values.push_back(&value);
  const Recipe& recipe = *target.program;
  Interpreter(device).run(recipe, values, [&run](const Error& error) {
    return run.fail(error.message);
  });
  return values[static_cast<size_t>(recipe.results[0].value)]->fault;
}

}  // namespace

Engine::Engine(Communicator& communicator, Device& device, Watch* watch)
    : communicator_(communicator), device_(device) {
  if (watch != nullptr) transfers_.emplace(*watch, device);
  thread_ = std::thread([this] { loop(); });
}

Engine::~Engine() {
  communicator_.abort("the worker ends");
  is_ending_.store(true);
  communicator_.wake();
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
  communicator_.wake();
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
  {
    const Status connected = communicator_.connect(*this);
    const std::lock_guard lock(mutex_);
    connected_ = connected;
  }
  changed_.notify_all();
  for (;;) {
    if (const RunPtr next = take_started()) {
      run(next);
    } else if (is_ending_.load()) {
      return communicator_.leave();
    } else {
      communicator_.serve();
    }
  }
}

void Engine::arrived(const Input& input, bool is_read) {
  if (transfers_) transfers_->arrived(input, is_read);
}

void Engine::was_read(const RunPtr& run) {
  if (run->is_done.load()) hand_back(run);
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
  if (!run->exchange->groups.empty()) {
    communicator_.group(*run, run->exchange->groups);
    return finish(run);
  }
  device_.begin_at(run->begun);
  if (transfers_) transfers_->begin();
  if (run->operands_made) device_.wait_for(*run->operands_made);
  for (ExchangeRun::Shown& shown : run->shown) {
    if (shown.from == nullptr) continue;
    if (shown.fault == nullptr) {
      shown.fault = shown.from->result_fault(shown.from_target);
    }
    shown.from = nullptr;
  }
  for (size_t s = 0; s < run->exchange->parts.size(); ++s) {
    communicator_.show(run, s);
    communicator_.bring(*run, s);
    for (size_t t = 0; t < run->made[s].size(); ++t) make(*run, s, t);
    const Part& part = run->exchange->parts[s];
    if (part.bytes_in > 0) {
      device_.brought(part.bytes_in, run->exchange->self, part.owners);
    }
    communicator_.release(*run, s);
  }
  communicator_.pass(*run);
  run->ended = device_.done_at();
  settle(*run);
  if (transfers_) transfers_->end(*run);
  finish(run);
}

// Waits for the device before the run counts as over, since then others may
// read what it made, and its memory may be reused.
void Engine::settle(ExchangeRun& run) {
  const Status s = device_.finish();
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
  if (made.is_added) {
    if (transfers_) transfers_->used(target);
    return;
  }
  void* output = made.output == nullptr ? nullptr : made.output->data;
  std::vector<const void*> arguments;
  for (size_t i = 0; i < target.inputs.size(); ++i) {
    Fault fault;
    arguments.push_back(read(run, step, target.inputs[i], made.pack(target, i),
                             made.is_wanted(), fault));
    if (made.fault == nullptr) made.fault = fault;
  }
  const bool has_data = device_.has_data();
  if (made.fault != nullptr || made.is_shared || !has_data) return;
  if (target.program != nullptr) {
    made.fault = run_program(device_, run, target, made, arguments);
  } else if (!arguments.empty() && arguments[0] != output) {
    const Status s =
        device_.copy(arguments[0], output, target.inputs[0].region.bytes());
    if (!s.ok()) made.fault = run.fail(s.error().message);
  }
  if (transfers_) transfers_->used(target);
}

// Returns the address of an input; null if it has failed or is not wanted.
const void* Engine::read(ExchangeRun& run, size_t step, const Input& input,
                         void* pack, bool is_wanted, Fault& fault) {
  if (input.own < 0) {
    return communicator_.read(run, step, input, pack, is_wanted, fault);
  }
  const auto value = run.exported(step, static_cast<size_t>(input.own));
  fault = value.fault;
  const bool is_read = fault == nullptr && is_wanted && value.data != nullptr &&
                       device_.has_data();
  if (!is_read) return nullptr;
  const auto found = input.region.find(value.data, pack, device_);
  if (found.ok()) return found.value();
  fault = run.fail(found.error().message);
  return nullptr;
}

}  // namespace gt::exec::comm
