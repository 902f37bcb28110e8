// Values that are too many for the text: they travel in files, which the
// workers see, or which a courier carries to a cluster. Its functions throw
// Failure (failure.h); those that take a lock want it to be the channel's, and
// give it up while bytes are copied and carried.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "client/channel.h"
#include "client/courier.h"
#include "client/store.h"
#include "client/value.h"

namespace gt::client {

class Freight {
 public:
  // More values than these travel in a file.
  static constexpr int64_t kMostInText = 1000;

  explicit Freight(Channel& channel) : channel_(channel) {}

  // A file of these bytes, as load finds it at path_of(). If there are too many
  // such files, waits until they have been loaded.
  Store::Place pack(const Type& type, const void* bytes, Channel::Lock& lock);
  // The line that loads it into the value, with the note #once, was sent. The
  // value has_file from here on.
  void was_sent(gt_value& value, const Store::Place& place, const Type& type);
  // The value, which has_file, is no more, or has another: the file can go once
  // a #sync is answered. Not before, though the load may have run long since:
  // gt-shard writes a load when a line reads its value, which says how it is
  // cut, and a #sync before that would have it written whole.
  void leave(gt_value& value);
  // Appends that #sync, if one is needed. The text is to be sent next.
  void append_sync(std::string& text);
  // Where a value can be saved, at path_of().
  Store::Place reserve(const Type& type, Channel::Lock& lock);
  // Copies the bytes of what was saved there, and gives the place back. False:
  // there is none, or of another type.
  bool unpack(const Store::Place& place, const Type& type, void* bytes,
              Channel::Lock& lock);
  // The file is no longer needed.
  void give(const Store::Place& place);
  // As a line of the program names it.
  const std::string& path_of(const Store::Place& place) const {
    return courier_.is_needed() ? place.name : place.path;
  }

  // As of gt_send_file() and gt_fetch_file(), the lock free.
  void send_file(const std::string& path);
  void fetch_file(const std::string& path);

  // Where the program may go on without us: waits until all has been loaded, so
  // that the files can go. To be called before the lines end.
  void wait_for_loads(Channel::Lock& lock);
  // The program has ended, with this status.
  void end(Exit status);
  // After fork(), in the child.
  void forget() { courier_.let_go(); }

  // To be called once the channel was started.
  void start();

 private:
  struct Sent {
    Store::Place place;
    size_t bytes = 0;
  };
  void check(const Status& status, const Type& type);
  // Leaves all values, and sends the #sync.
  void leave_all(Channel::Lock& lock);

  Channel& channel_;
  Store store_;
  Courier courier_;
  std::unordered_map<gt_value*, Sent> sent_;  // whose values live
  std::vector<Sent> left_;                    // that await a #sync
  size_t travelling_ = 0;  // bytes of files that were not given back
};

}  // namespace gt::client
