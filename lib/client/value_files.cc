#include "client/value_files.h"

#include <algorithm>
#include <utility>

#include "client/failure.h"
#include "client/paths.h"

namespace gt::client {
namespace {

// Bytes of files in use at a time; above it, a writer waits until they are
// loaded.
constexpr size_t kMostTravelling = size_t{256} << 20;
// A file counts as this many bytes at least, so that there are at most some
// thousand files.
constexpr size_t kLeast = size_t{64} << 10;

}  // namespace

void ValueFiles::start() {
  // A single worker reads a file when it runs the line, and never again.
  if (channel_.has_one_worker()) store_.keep_files();
  if (!channel_.has_way_back()) store_.leave_files();
  if (channel_.joined().empty()) return;
  carrier_.join(channel_.joined(), [this] { return channel_.is_lost(); });
}

void ValueFiles::check(const Status& status, const Type& type) {
  if (status.ok()) return;
  channel_.check_alive();
  if (!carrier_.is_needed()) fail(GT_FILE, status.error().message);
  fail(GT_FILE, to_string(type) + " has more than " +
                    std::to_string(kMostInText) +
                    " values, which travel to a cluster as a file: " +
                    status.error().message + " (gt-clients(7), \"Files\")");
}

Store::Place ValueFiles::pack(const Type& type, const void* bytes,
                              Channel::Lock& lock) {
  // Without results nothing tells when a file was loaded, so all files stay.
  if (channel_.has_way_back()) {
    channel_.open_back();
    if (travelling_ > kMostTravelling) leave_all(lock);
    channel_.wait([&] { return travelling_ <= kMostTravelling; }, lock);
  }
  const Store::Place place =
      value_or_fail(store_.take(Store::Way::kOut), GT_FILE);
  lock.unlock();  // other threads may go on
  Status packed = write_tensor(place, type, bytes);
  if (packed.ok() && carrier_.is_needed()) {
    packed = carrier_.claim(place.name);
    if (packed.ok()) packed = carrier_.send(place.path, place.name);
  }
  lock.lock();
  try {
    channel_.check_open();
    check(packed, type);
  } catch (const Failure&) {
    give(place);
    throw;
  }
  return place;
}

void ValueFiles::was_sent(gt_value& value, const Store::Place& place,
                          const Type& type) {
  if (!channel_.has_way_back()) return;
  value.has_file = true;
  const size_t bytes = std::max(type.bytes(), kLeast);
  sent_[&value] = {place, bytes};
  travelling_ += bytes;
  // It reads the file when it runs the line.
  if (channel_.has_one_worker()) leave(value);
}

void ValueFiles::leave(gt_value& value) {
  value.has_file = false;
  const auto sent = sent_.extract(&value);
  if (sent) left_.push_back(sent.mapped());
}

void ValueFiles::append_sync(std::string& text) {
  if (left_.empty()) return;
  channel_.when_done(
      [this, left = std::exchange(left_, {})] {
        for (const Sent& sent : left) {
          give(sent.place);
          travelling_ -= sent.bytes;
        }
      },
      text);
}

void ValueFiles::leave_all(Channel::Lock& lock) {
  while (!sent_.empty()) leave(*sent_.begin()->first);
  std::string text;
  append_sync(text);
  if (!text.empty()) channel_.send(text, lock);
}

void ValueFiles::wait_for_loads(Channel::Lock& lock) {
  if (channel_.waits_for_program()) return;
  leave_all(lock);
  channel_.wait([&] { return travelling_ == 0; }, lock);
}

Store::Place ValueFiles::reserve(const Type& type, Channel::Lock& lock) {
  const Store::Place place =
      value_or_fail(store_.take(Store::Way::kBack), GT_FILE);
  if (!carrier_.is_needed()) return place;
  lock.unlock();
  const Status claimed = carrier_.claim(place.name);
  lock.lock();
  if (!claimed.ok()) give(place);
  check(claimed, type);
  return place;
}

bool ValueFiles::unpack(const Store::Place& place, const Type& type,
                        void* bytes, Channel::Lock& lock) {
  lock.unlock();
  Status got = ok_status();
  if (carrier_.is_needed()) got = carrier_.fetch(place.name, place.path);
  if (got.ok()) got = read_tensor(place, type, bytes);
  lock.lock();
  give(place);
  return got.ok();
}

void ValueFiles::give(const Store::Place& place) {
  if (carrier_.is_needed()) carrier_.forget(place.name);
  store_.give(place);
}

void ValueFiles::send_file(const std::string& path) {
  if (!carrier_.is_needed()) return;
  const Status sent = carrier_.send(absolute_path(path), path);
  if (!sent.ok()) fail(GT_FILE, sent.error().message);
}

void ValueFiles::fetch_file(const std::string& path) {
  if (!carrier_.is_needed()) return;
  const Status fetched = carrier_.fetch(path, absolute_path(path));
  if (!fetched.ok()) fail(GT_FILE, fetched.error().message);
}

void ValueFiles::end(Exit status) {
  carrier_.end(status == Exit::kLost);
  store_.remove();
}

}  // namespace gt::client
