#include "exec/storage/saves.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "exec/trace/ticks.h"
#include "file/stored.h"

namespace gt::exec {

void Saves::set_reader(std::unique_ptr<DeviceReader> reader) {
  reader_ = std::move(reader);
}

void Saves::end() {
  {
    const Lock lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  const Lock lock(mutex_);
  work_.clear();
  unwritten_.clear();
}

// ---- what is to be done -----------------------------------------------------

// Adds a work and returns its number. If no thread can be started, does the
// work at once.
uint64_t Saves::add(Work work, Lock& lock) {
  if (is_ending_) return 0;
  work_.push_back(std::move(work));
  const uint64_t number = ++last_work_;
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& /*none*/) {
      do_first(lock);
    }
  }
  changed_.notify_all();
  return number;
}

void Saves::wait_for(uint64_t work, Lock& lock) {
  changed_.wait(lock,
                [this, work] { return done_work_ >= work || is_ending_; });
}

uint64_t Saves::announce(const std::string& path) {
  std::string file = split_path(normal_path(path)).file;
  const Lock lock(mutex_);
  unwritten_.emplace(++last_ticket_, std::move(file));
  return last_ticket_;
}

// Advances last_begun_ to the ticket, and returns the save's file.
std::string Saves::begin_next(uint64_t ticket) {
  last_begun_ = ticket;
  return unwritten_.at(ticket);
}

void Saves::begin(uint64_t ticket, Order order) {
  Lock lock(mutex_);
  if (is_ending_) return;
  has_open_ = true;
  add({.kind = Work::Kind::kSave,
       .ticket = ticket,
       .file = begin_next(ticket),
       .order = std::make_unique<Order>(std::move(order)),
       .path = {},
       .why = {}},
      lock);
}

void Saves::drop(uint64_t ticket) {
  const Lock lock(mutex_);
  if (is_ending_) return;
  last_begun_ = ticket;
  unwritten_.erase(ticket);
}

// The failure is noted in its turn, since an earlier save to the path may still
// be unwritten.
void Saves::fail(uint64_t ticket, const std::string& path,
                 const std::string& why) {
  Lock lock(mutex_);
  if (is_ending_) return;
  has_open_ = true;
  add({.kind = Work::Kind::kFail,
       .ticket = ticket,
       .file = begin_next(ticket),
       .order = nullptr,
       .path = path,
       .why = why},
      lock);
}

bool Saves::expects(const std::string& file) const {
  const std::string normal = normal_path(file);
  const Lock lock(mutex_);
  return std::any_of(
      unwritten_.upper_bound(last_begun_), unwritten_.end(),
      [&normal](const auto& save) { return save.second == normal; });
}

// True if a save has begun that is not written yet.
bool Saves::has_begun_any() const {
  return !unwritten_.empty() && unwritten_.begin()->first <= last_begun_;
}

void Saves::end_groups() {
  Lock lock(mutex_);
  if (std::exchange(has_open_, false)) add({}, lock);
}

void Saves::abandon(const std::string& why) {
  Lock lock(mutex_);
  if (!std::exchange(has_open_, false)) return;
  Work work;
  work.kind = Work::Kind::kAbandon;
  work.why = why;
  add(std::move(work), lock);
}

void Saves::settle() {
  Lock lock(mutex_);
  has_open_ = false;
  if (has_begun_any()) wait_for(add({}, lock), lock);
}

void Saves::settle(const std::string& file) {
  {
    const Lock lock(mutex_);
    if (!has_begun_any()) return;
  }
  Work work;
  work.file = normal_path(file);
  Lock lock(mutex_);
  if (std::any_of(
          unwritten_.begin(), unwritten_.upper_bound(last_begun_),
          [&work](const auto& save) { return save.second == work.file; })) {
    wait_for(add(std::move(work), lock), lock);
  }
}

void Saves::read_all() {
  Lock lock(mutex_);
  wait_for(last_work_, lock);
}

uint64_t Saves::first_waiting() const {
  const Lock lock(mutex_);
  uint64_t first =
      unwritten_.empty() ? last_ticket_ + 1 : unwritten_.begin()->first;
  for (const Failure& f : untold_) first = std::min(first, f.ticket);
  return first;
}

std::vector<Saves::Failure> Saves::take_failures() {
  const Lock lock(mutex_);
  return std::exchange(untold_, {});
}

// ---- the thread -------------------------------------------------------------

void Saves::run() {
  Lock lock(mutex_);
  while (!is_ending_) {
    if (work_.empty()) {
      changed_.wait(lock);
    } else {
      do_first(lock);
    }
  }
}

void Saves::do_first(Lock& lock) {
  // The reference stays valid: a deque does not move it when more is added.
  const Work& work = work_.front();
  lock.unlock();
  work_on(work);
  lock.lock();
  work_.pop_front();
  ++done_work_;
  changed_.notify_all();
}

void Saves::work_on(const Work& work) {
  SavedFiles::Outcomes done;
  Status s = ok_status();
  switch (work.kind) {
    case Work::Kind::kSave:
      s = save(work, done);
      break;
    case Work::Kind::kFail:
      saved_.fail(work.file, {work.path, work.ticket, {}}, work.why, done);
      break;
    case Work::Kind::kWrite:
      saved_.write(work.file, done);
      break;
    case Work::Kind::kAbandon:
      saved_.abandon(work.why, done);
      break;
  }
  const Lock lock(mutex_);
  for (const SavedFiles::Outcome& outcome : done) note(outcome);
  if (work.kind == Work::Kind::kFail) {
    failures_.note(work.path, work.why);
    unwritten_.erase(work.ticket);
  } else if (!s.ok()) {
    note({{work.order->path, work.ticket, work.order->line}, s});
  } else if (work.order != nullptr) {
    // This comes after the notes about the files written first, which may be
    // about the same path.
    failures_.forgive(work.order->path);
  }
}

Status Saves::save(const Work& work, SavedFiles::Outcomes& done) {
  const Order& order = *work.order;
  const uint64_t start = order.trace == nullptr ? 0 : Ticks::system_nanos();
  Status s =
      saved_.save(work.file, {order.path, work.ticket, order.line}, order.type,
                  TensorBytes([this, &order](const TensorBytes::Take& take) {
                    return read(order, take);
                  }),
                  done);
  if (order.trace != nullptr) {
    order.trace->add(*order.row, order.line.where.line, start,
                     Ticks::system_nanos());
  }
  return s;
}

Status Saves::read(const Order& order, const TensorBytes::Take& take) {
  const size_t bytes = order.type.bytes();
  if (reader_ == nullptr) return take(order.data, bytes);
  return reader_->read(order.data, bytes, order.made.get(), take);
}

void Saves::note(const SavedFiles::Outcome& done) {
  const SavedFiles::Save& save = done.save;
  unwritten_.erase(save.ticket);
  if (done.status.ok()) return;
  const std::string& why = done.status.error().message;
  failures_.note(save.path, why);
  untold_.push_back({save.line, why, save.ticket});
}

}  // namespace gt::exec
