#include "exec/storage/saves.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "file/stored.h"

namespace gt::exec {
namespace {

constexpr char kEnd = '\0';
constexpr uint64_t kNone = ~uint64_t{0};  // of an instruction

uint64_t steady_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace

Saves::Saves(Files files) : files_(std::move(files)), saved_(files_) {}

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

void Saves::begin(Order order) {
  Work work;
  work.file = split_path(normal_path(order.path)).file;
  work.save = std::make_unique<Order>(std::move(order));
  Lock lock(mutex_);
  unwritten_[work.file].push_back(work.save->line.seq);
  settles_ = false;
  add(std::move(work), lock);
}

void Saves::fail(const std::string& path, const std::string& why) {
  const std::string normal = normal_path(path);
  Lock lock(mutex_);
  if (work_.empty()) {
    failed_[normal] = why;
    return;
  }
  // Loads of the file wait for it, as for a save.
  Work work{nullptr, normal, why, split_path(normal).file};
  unwritten_[work.file].push_back(kNone);
  add(std::move(work), lock);
}

void Saves::begin_settle() {
  Lock lock(mutex_);
  if (settles_ || unwritten_.empty()) return;
  settles_ = true;
  add({}, lock);
}

// For all that there is to do.
void Saves::wait(Lock& lock) {
  changed_.wait(lock, [this] { return work_.empty() || is_ending_; });
}

void Saves::read_all() {
  Lock lock(mutex_);
  wait(lock);
}

void Saves::settle() {
  begin_settle();
  read_all();
}

void Saves::settle(const std::string& file) {
  {
    const Lock lock(mutex_);
    if (unwritten_.empty()) return;
  }
  const std::string normal = normal_path(file);
  Lock lock(mutex_);
  if (!unwritten_.contains(normal)) return;
  add({nullptr, "", "", normal}, lock);
  changed_.wait(lock, [this, &normal] {
    return !unwritten_.contains(normal) || work_.empty() || is_ending_;
  });
}

bool Saves::waiting() const {
  const Lock lock(mutex_);
  return !work_.empty() || !unwritten_.empty() || !failures_.empty();
}

uint64_t Saves::settle_cost() const {
  const Lock lock(mutex_);
  return settle_cost_;
}

uint64_t Saves::first_waiting() const {
  const Lock lock(mutex_);
  uint64_t first = kNone;
  for (const auto& [file, saves] : unwritten_) {
    first = std::min(first, *std::min_element(saves.begin(), saves.end()));
  }
  for (const Failure& failure : failures_) first = std::min(first, failure.seq);
  return first == kNone ? 0 : first;
}

std::vector<Saves::Failure> Saves::failures() {
  const Lock lock(mutex_);
  return std::exchange(failures_, {});
}

// ---- the thread -------------------------------------------------------------

void Saves::run() {
  Lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !work_.empty() || is_ending_; });
    if (is_ending_) return work_.clear();
    do_first(lock);
  }
}

void Saves::do_first(Lock& lock) {
  const Work& work = work_.front();  // stays where it is
  lock.unlock();
  work_on(work);
  lock.lock();
  work_.pop_front();
  settle_cost_ = saved_.cost();
  changed_.notify_all();
}

void Saves::work_on(const Work& work) {
  std::vector<SavedFiles::Written> files;
  Status s = ok_status();
  if (work.save != nullptr) {
    const Order& order = *work.save;
    const uint64_t start = order.trace == nullptr ? 0 : steady_now();
    s = save(work, files);
    if (order.trace != nullptr) {
      order.trace->add(*order.row, order.line.where.line, start, steady_now());
    }
  } else if (work.path.empty()) {
    saved_.write(work.file, files);
  }
  const Lock lock(mutex_);
  for (SavedFiles::Written& file : files) note(file);
  if (!work.path.empty()) {
    failed_[work.path] = work.why;
    count_written(work.file, kNone);
  }
  if (work.save == nullptr) return;
  if (s.ok()) {
    // To know a path by all its spellings takes a look at the file system.
    if (!failed_.empty()) forgive(normal_path(work.save->path));
    return;
  }
  Failure failure = work.save->line;
  failure.error.message = s.error().message;
  failures_.push_back(std::move(failure));
  failed_[normal_path(work.save->path)] = s.error().message;
  count_written(work.file, work.save->line.seq);
}

// What a library throws, or that memory is short, fails the save alone.
Status Saves::save(const Work& work, std::vector<SavedFiles::Written>& files) {
  const Order& order = *work.save;
  const TensorBytes bytes([this, &order](const TensorBytes::Take& take) {
    return read(order, take);
  });
  try {
    return saved_.save(work.file, order.path, order.type, bytes, order.line,
                       files);
  } catch (const std::exception& e) {
    return Error{order.path + ": " + e.what()};
  }
}

Status Saves::read(const Order& order, const TensorBytes::Take& take) {
  const size_t bytes = order.type.bytes();
  if (reader_ == nullptr) return take(order.data, bytes);
  return reader_->read(order.data, bytes, order.made.get(), take);
}

void Saves::note(SavedFiles::Written& written) {
  if (!written.status.ok()) {
    for (const SavedFiles::Written::Save& save : written.saves) {
      failed_[normal_path(save.path)] = written.status.error().message;
    }
    written.last.seq = written.saves.front().seq;
    failures_.push_back(std::move(written.last));
  }
  for (const SavedFiles::Written::Save& save : written.saves) {
    count_written(written.file, save.seq);
  }
}

void Saves::count_written(const std::string& file, uint64_t seq) {
  const auto it = unwritten_.find(file);
  if (it == unwritten_.end()) return;
  std::vector<uint64_t>& saves = it->second;
  if (const auto at = std::find(saves.begin(), saves.end(), seq);
      at != saves.end()) {
    saves.erase(at);
  }
  if (saves.empty()) unwritten_.erase(it);
}

// ---- what has failed --------------------------------------------------------

void Saves::lose(const std::string& file, const std::string& why) {
  const std::string normal = normal_path(file);
  const Lock lock(mutex_);
  forget(normal);
  failed_[normal] = why;
}

// All that has failed in a file.
void Saves::forget(const std::string& normal) {
  std::erase_if(failed_, [&normal](const auto& failed) {
    return split_path(failed.first).file == normal;
  });
}

void Saves::forgive(const std::string& normal) {
  failed_.erase(normal);
  if (failed_.contains(split_path(normal).file)) failed_[normal] = "";
}

std::string Saves::failure_of(const std::string& path) const {
  {
    const Lock lock(mutex_);
    if (failed_.empty()) return "";
  }
  const std::string normal = normal_path(path);
  const Lock lock(mutex_);
  auto it = failed_.find(normal);
  if (it == failed_.end()) it = failed_.find(split_path(normal).file);
  return it == failed_.end() ? "" : it->second;
}

// What stands behind the file in a path, and a reason, each ended by a zero
// byte: who reads it may see the file elsewhere.
std::string Saves::failures_in(const std::string& file) const {
  const std::string normal = normal_path(file);
  const Lock lock(mutex_);
  std::string out;
  for (const auto& [path, why] : failed_) {
    if (split_path(path).file != normal) continue;
    out.append(path, normal.size()).append(1, kEnd).append(why).append(1, kEnd);
  }
  return out;
}

void Saves::take_failures(const std::string& file, std::string_view failures) {
  if (!failures.empty() && failures.back() != kEnd) {
    return lose(file, "the list of what failed to be saved there is cut short");
  }
  const std::string normal = normal_path(file);
  const Lock lock(mutex_);
  forget(normal);
  const auto next = [&failures] {
    const size_t end = std::min(failures.find(kEnd), failures.size());
    const std::string_view word = failures.substr(0, end);
    failures.remove_prefix(std::min(end + 1, failures.size()));
    return std::string(word);
  };
  while (!failures.empty()) {
    std::string path = normal + next();
    failed_[std::move(path)] = next();
  }
}

}  // namespace gt::exec
