#include "exec/storage/saves.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "file/stored.h"

namespace gt::exec {
namespace {

uint64_t steady_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

void drop_one(std::unordered_map<std::string, size_t>& counts,
              const std::string& file) {
  const auto it = counts.find(file);
  if (it != counts.end() && --it->second == 0) counts.erase(it);
}

}  // namespace

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
  begun_.clear();
}

// ---- what is to be done -----------------------------------------------------

// Where no thread can be had it is done at once.
void Saves::add(Work work, Lock& lock) {
  if (is_ending_) return;
  work_.push_back(std::move(work));
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& /*none*/) {
      return do_first(lock);
    }
  }
  changed_.notify_all();
}

uint64_t Saves::announce(const std::string& path) {
  std::string file = split_path(normal_path(path)).file;
  const Lock lock(mutex_);
  ++announced_[file];
  unwritten_.emplace(++last_ticket_, std::move(file));
  return last_ticket_;
}

// Its file.
std::string Saves::begun(uint64_t ticket) {
  std::string file = unwritten_.at(ticket);
  drop_one(announced_, file);
  ++begun_[file];
  return file;
}

void Saves::begin(uint64_t ticket, Order order) {
  Lock lock(mutex_);
  if (is_ending_) return;
  Work work;
  work.kind = Work::Kind::kSave;
  work.ticket = ticket;
  work.file = begun(ticket);
  work.order = std::make_unique<Order>(std::move(order));
  add(std::move(work), lock);
}

void Saves::drop(uint64_t ticket) {
  const Lock lock(mutex_);
  if (is_ending_) return;
  begun(ticket);
  finish(ticket);
}

// In its turn: a save to the path may come before it.
void Saves::fail(uint64_t ticket, const std::string& path,
                 const std::string& why) {
  Lock lock(mutex_);
  if (is_ending_) return;
  Work work;
  work.kind = Work::Kind::kFail;
  work.ticket = ticket;
  work.file = begun(ticket);
  work.path = path;
  work.why = why;
  add(std::move(work), lock);
}

bool Saves::expects(const std::string& file) const {
  {
    const Lock lock(mutex_);
    if (announced_.empty()) return false;
  }
  const std::string normal = normal_path(file);
  const Lock lock(mutex_);
  return announced_.contains(normal);
}

void Saves::begin_settle() {
  Lock lock(mutex_);
  if (settles_ || begun_.empty()) return;
  if (!thread_.joinable()) return add({}, lock);  // there was none to be had
  settles_ = true;
  settles_since_ = Clock::now();
  changed_.notify_all();
}

void Saves::settle() {
  Lock lock(mutex_);
  if (begun_.empty()) return;
  add({}, lock);
  changed_.wait(lock, [this] { return begun_.empty() || is_ending_; });
}

void Saves::settle(const std::string& file) {
  {
    const Lock lock(mutex_);
    if (begun_.empty()) return;
  }
  Work work;
  work.file = normal_path(file);
  const std::string normal = work.file;
  Lock lock(mutex_);
  if (!begun_.contains(normal)) return;
  add(std::move(work), lock);
  changed_.wait(
      lock, [this, &normal] { return !begun_.contains(normal) || is_ending_; });
}

void Saves::read_all() {
  Lock lock(mutex_);
  changed_.wait(lock, [this] { return work_.empty() || is_ending_; });
}

uint64_t Saves::first_waiting() const {
  const Lock lock(mutex_);
  uint64_t first =
      unwritten_.empty() ? last_ticket_ + 1 : unwritten_.begin()->first;
  for (const Failure& f : told_later_) first = std::min(first, f.ticket);
  return first;
}

std::vector<Saves::Failure> Saves::take_failures() {
  const Lock lock(mutex_);
  return std::exchange(told_later_, {});
}

// ---- the thread -------------------------------------------------------------

void Saves::run() {
  Lock lock(mutex_);
  while (!is_ending_) {
    // However many saves there are to begin, those that wait are not put off
    // for long.
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
  const Work& work = work_.front();  // stays where it is
  lock.unlock();
  work_on(work);
  lock.lock();
  work_.pop_front();
  changed_.notify_all();
}

// As long as that takes it is not done again, so that of tensors which come one
// by one each does not cost a file.
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
  } else if (work.kind == Work::Kind::kFail) {
    failures_.note(work.path, work.why);
  } else {
    saved_.write(work.file, files);
  }
  for (const SavedFiles::Written& file : files) {
    if (file.status.ok()) continue;
    for (const SavedFiles::Save& one : file.saves) {
      failures_.note(one.path, file.status.error().message);
    }
  }
  // What was written first may have been of the same path.
  if (!s.ok()) {
    failures_.note(work.order->path, s.error().message);
  } else if (work.order != nullptr) {
    failures_.forgive(work.order->path);
  }
  const Lock lock(mutex_);
  for (const SavedFiles::Written& file : files) note(file);
  if (!s.ok()) {
    told_later_.push_back({work.order->line, s.error().message, work.ticket});
  }
  if (!s.ok() || work.kind == Work::Kind::kFail) finish(work.ticket);
}

Status Saves::save(const Work& work, std::vector<SavedFiles::Written>& files) {
  const Order& order = *work.order;
  const uint64_t start = order.trace == nullptr ? 0 : steady_now();
  Status s =
      saved_.save(work.file, {order.path, work.ticket, order.line}, order.type,
                  TensorBytes([this, &order](const TensorBytes::Take& take) {
                    return read(order, take);
                  }),
                  files);
  if (order.trace != nullptr) {
    order.trace->add(*order.row, order.line.where.line, start, steady_now());
  }
  return s;
}

Status Saves::read(const Order& order, const TensorBytes::Take& take) {
  const size_t bytes = order.type.bytes();
  if (reader_ == nullptr) return take(order.data, bytes);
  return reader_->read(order.data, bytes, order.made.get(), take);
}

void Saves::note(const SavedFiles::Written& written) {
  if (!written.status.ok()) {
    told_later_.push_back({written.saves.back().line,
                           written.status.error().message,
                           written.saves.front().ticket});
  }
  for (const SavedFiles::Save& save : written.saves) finish(save.ticket);
}

void Saves::finish(uint64_t ticket) {
  const auto it = unwritten_.find(ticket);
  if (it == unwritten_.end()) return;
  drop_one(begun_, it->second);
  unwritten_.erase(it);
}

}  // namespace gt::exec
