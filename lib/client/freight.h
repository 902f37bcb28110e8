// Values that are too many for the text: they travel in files, which the
// workers see, or which a courier carries to a cluster. Its functions throw
// Failure (failure.h); those that take a lock want it to be the channel's, and
// give it up while bytes are copied and carried.
#pragma once

#include <string>

#include "client/channel.h"
#include "client/courier.h"
#include "client/store.h"

namespace gt::client {

class Freight {
 public:
  // More values than these travel in a file.
  static constexpr int64_t kMostInText = 1000;

  explicit Freight(Channel& channel) : channel_(channel) {}

  // A file of these bytes, as load finds it at path_of(). Waits while too much
  // has not been loaded.
  Store::Place pack(const Type& type, const void* bytes, Channel::Lock& lock);
  // The line that loads it was sent.
  void was_sent(const Store::Place& place, const Type& type,
                Channel::Lock& lock);
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

  // The program has ended, with this status.
  void end(Exit status);
  // After fork(), in the child.
  void forget() { courier_.let_go(); }

  // To be called once the channel was started.
  void start();

 private:
  void check(const Status& status, const Type& type);

  Channel& channel_;
  Store store_;
  Courier courier_;
  size_t travelling_ = 0;  // bytes of files that are not yet loaded
};

}  // namespace gt::client
