#include "exec/comm/engine.h"

#include <unistd.h>

#include <algorithm>

#include "base/text.h"

namespace gt::comm {
namespace {

using Kind = PeerMessage::Kind;
using std::chrono::milliseconds;

// Without a sign for so long, a worker is asked for one.
constexpr milliseconds kAskAfter{1000};

Fault fault_of(const std::string& why) {
  return std::make_shared<const std::string>(why);
}

}  // namespace

Engine::Engine(EngineOptions options)
    : options_(std::move(options)),
      peers_(options_.workers),
      thread_([this] { loop(); }) {}

Engine::~Engine() {
  abort("the worker ends");
  is_ending_.store(true);
  options_.link->wake();
  thread_.join();
}

// ---- other threads ----------------------------------------------------------

Status Engine::connect() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return connected_.has_value(); });
  return *connected_;
}

bool Engine::is_mapped(unsigned worker) const {
  return peers_[worker].memory != nullptr;
}

void Engine::start(std::shared_ptr<ExchangeRun> op) {
  {
    const std::lock_guard lock(mutex_);
    started_.push_back(std::move(op));
  }
  options_.link->wake();
}

void Engine::wait(const ExchangeRun& op) { op.is_done.wait(false); }

std::vector<std::shared_ptr<ExchangeRun>> Engine::take_finished() {
  const std::lock_guard lock(mutex_);
  return std::exchange(finished_, {});
}

void Engine::wait_finished() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !finished_.empty(); });
}

Waiting Engine::waiting() const {
  const std::lock_guard lock(mutex_);
  if (!waits_) return {};
  std::string text;
  if (waits_->line != 0) text = "line " + std::to_string(waits_->line) + ": ";
  const auto since = Clock::now() - waits_->since;
  return {text + waits_->what,
          std::chrono::duration_cast<milliseconds>(since).count(), waits_->seq};
}

void Engine::abort(const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (aborted_.empty()) aborted_ = why;
  }
  is_aborted_.store(true);
  options_.link->wake();
}

// ---- the thread -------------------------------------------------------------

void Engine::loop() {
  greet();
  for (;;) {
    if (is_aborted_.load()) drop_all_readers();
    if (const OpPtr op = take()) {
      run(op);
    } else if (is_ending_.load()) {
      return;
    } else {
      sleep();
    }
  }
}

void Engine::greet() {
  PeerMessage hello;
  hello.kind = Kind::kHello;
  if (options_.arena != nullptr) {
    hello.pid = static_cast<uint64_t>(::getpid());
    hello.fd = static_cast<uint64_t>(options_.arena->fd());
    hello.size = options_.arena->size();
    hello.token = options_.arena->token();
  }
  for (unsigned w = 0; w < options_.workers; ++w) {
    if (w != options_.self) send(w, hello);
  }
  Status connected = ok_status();
  for (unsigned w = 0; w < options_.workers && connected.ok(); ++w) {
    if (w == options_.self) continue;
    const Fault fault = await(w, nullptr, "to hear from " + name_of(w),
                              [this, w] { return peers_[w].is_greeted; });
    if (fault != nullptr) connected = Error{*fault};
  }
  {
    const std::lock_guard lock(mutex_);
    connected_ = connected;
  }
  changed_.notify_all();
}

Engine::OpPtr Engine::take() {
  const std::lock_guard lock(mutex_);
  if (started_.empty()) return nullptr;
  OpPtr op = std::move(started_.front());
  started_.pop_front();
  return op;
}

void Engine::finish(const OpPtr& op) {
  passed_ = {op->seq, op->exchange->group};
  has_passed_ = true;
  op->is_done.store(true);
  op->is_done.notify_all();
  if (op->unreleased == 0) hand_back(op);
}

void Engine::hand_back(const OpPtr& op) {
  {
    const std::lock_guard lock(mutex_);
    finished_.push_back(op);
  }
  changed_.notify_all();
}

milliseconds Engine::interval() const {
  return std::clamp(options_.patience / 4, milliseconds(1), kAskAfter);
}

// Nothing is to be done, but others may ask, or say that they have read.
void Engine::sleep() {
  pump(shown_.empty() ? milliseconds(-1) : interval());
  for (unsigned w = 0; w < options_.workers && !shown_.empty(); ++w) {
    if (peers_[w].unread > 0) check_sign(w, peers_[w].unread_since);
  }
}

Fault Engine::await(unsigned worker, const ExchangeRun* op,
                    const std::string& what,
                    const std::function<bool()>& done) {
  if (done()) return nullptr;
  const Clock::time_point since = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    waits_ = op == nullptr ? Waits{0, 0, what, since}
                           : Waits{op->where.line, op->seq, what, since};
  }
  Fault fault;
  while (!done() && fault == nullptr) {
    if (is_aborted_.load()) {
      fault = abort_fault();
    } else if (peers_[worker].lost != nullptr) {
      fault = peers_[worker].lost;
    } else {
      pump(interval());
      check_sign(worker, since);
    }
  }
  const std::lock_guard lock(mutex_);
  waits_.reset();
  return fault;
}

void Engine::pump(milliseconds most) {
  Incoming message;
  if (!options_.link->receive(message, most)) return;
  if (message.from >= options_.workers || message.from == options_.self) return;
  if (message.is_lost) {
    return lose(message.from, name_of(message.from) + ": " + message.bytes);
  }
  handle(message.from, message.bytes);
}

void Engine::check_sign(unsigned worker, Clock::time_point since) {
  Peer& peer = peers_[worker];
  if (peer.lost != nullptr) return;
  const Clock::time_point now = Clock::now();
  const Clock::time_point last = std::max(peer.sign, since);
  if (now - last > options_.patience) {
    return lose(worker, "no sign of " + name_of(worker) + " for " +
                            seconds_text(options_.patience.count()));
  }
  if (now - std::max(last, peer.asked) < interval()) return;
  peer.asked = now;
  PeerMessage ask;
  ask.kind = Kind::kAsk;
  send(worker, ask);
}

void Engine::lose(unsigned worker, const std::string& why) {
  Peer& peer = peers_[worker];
  if (peer.lost != nullptr) return;
  peer.lost = fault_of(why);
  peer.ready.clear();
  drop_readers(worker);
}

// It reads no more, or what it reads does not matter.
void Engine::drop_readers(unsigned worker) {
  for (auto it = shown_.begin(); it != shown_.end();) {
    Shown& shown = it->second;
    const size_t dropped = std::erase(shown.readers, worker);
    const OpPtr op = shown.op;
    it = shown.readers.empty() ? shown_.erase(it) : std::next(it);
    if (dropped == 0) continue;
    --peers_[worker].unread;
    if (--op->unreleased == 0 && op->is_done.load()) hand_back(op);
  }
}

void Engine::drop_all_readers() {
  for (unsigned w = 0; w < options_.workers; ++w) drop_readers(w);
}

std::string Engine::name_of(unsigned worker) const {
  std::string name = "worker " + std::to_string(worker);
  if (worker < options_.names.size() && !options_.names[worker].empty()) {
    name += " (" + options_.names[worker] + ")";
  }
  return name;
}

Fault Engine::abort_fault() const {
  const std::lock_guard lock(mutex_);
  return fault_of(aborted_);
}

}  // namespace gt::comm
