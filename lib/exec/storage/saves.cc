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

void Saves::begin_settle() {
  Lock lock(mutex_);
  if (settles_ || !has_begun_any()) return;
  if (!thread_.joinable()) {  // no thread could be started
    add({}, lock);
    return;
  }
  settles_ = true;
  settles_since_ = Clock::now();
  changed_.notify_all();
}

void Saves::settle() {
  Lock lock(mutex_);
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
    // Even if there are always saves to begin, those that wait to be written
    // are delayed by at most kPatience.
    const auto from = work_.empty()
                          ? settles_from_
                          : std::max(settles_from_, settles_since_ + kPatience);
    if (settles_ && Clock::now() >= from) {
      write_all(lock);
    } else if (!work_.empty()) {
      do_first(lock);
    } else if (settles_) {
      changed_.wait_until(lock, settles_from_);
    } else {
      changed_.wait(lock);
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

// Writes everything that waits. Afterwards this is not done again for as long
// as it took, so that tensors which come one by one do not each cost a new
// file.
void Saves::write_all(Lock& lock) {
  settles_ = false;
  lock.unlock();
  const auto start = Clock::now();
  work_on({});
  const auto end = Clock::now();
  lock.lock();
  settles_from_ = end + (end - start);
  changed_.notify_all();
}

void Saves::work_on(const Work& work) {
  std::vector<SavedFiles::Written> files;
  Status s = ok_status();
  if (work.kind == Work::Kind::kSave) {
    s = save(work, files);
  } else if (work.kind == Work::Kind::kWrite) {
    saved_.write(work.file, files);
  }
  const Lock lock(mutex_);
  for (const SavedFiles::Written& file : files) note(file);
  if (work.kind == Work::Kind::kFail) {
    failures_.note(work.path, work.why);
    unwritten_.erase(work.ticket);
  } else if (!s.ok()) {
    const Order& order = *work.order;
    failures_.note(order.path, s.error().message);
    untold_.push_back({order.line, s.error().message, work.ticket});
    unwritten_.erase(work.ticket);
  } else if (work.order != nullptr) {
    // This comes after the notes about the files written first, which may be
    // about the same path.
    failures_.forgive(work.order->path);
  }
}

Status Saves::save(const Work& work, std::vector<SavedFiles::Written>& files) {
  const Order& order = *work.order;
  const uint64_t start = order.trace == nullptr ? 0 : Ticks::system_nanos();
  Status s =
      saved_.save(work.file, {order.path, work.ticket, order.line}, order.type,
                  TensorBytes([this, &order](const TensorBytes::Take& take) {
                    return read(order, take);
                  }),
                  files);
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

void Saves::note(const SavedFiles::Written& written) {
  const Status& s = written.status;
  for (const SavedFiles::Save& save : written.saves) {
    unwritten_.erase(save.ticket);
    if (!s.ok()) failures_.note(save.path, s.error().message);
  }
  if (s.ok()) return;
  untold_.push_back({written.saves.back().line, s.error().message,
                     written.saves.front().ticket});
}

}  // namespace gt::exec
