// ValueFiles: the files of values that are too long for the text. The workers
// see them, or a FileCarrier copies them to a cluster. The functions throw
// Failure (failure.h). Those that take a lock expect the channel's, and unlock
// it while bytes are copied and carried.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "client/channel.h"
#include "client/file_carrier.h"
#include "client/store.h"
#include "client/value.h"

namespace gt::client {

class ValueFiles {
 public:
  // The most elements of a value that are written into the text.
  static constexpr int64_t kMostInText = 1000;

  explicit ValueFiles(Channel& channel) : channel_(channel) {}

  // Writes a file with these bytes, which the program loads from path_of(). If
  // too many such files are in use, waits until they have been loaded.
  Store::Place pack(const Type& type, const void* bytes, Channel::Lock& lock);
  // Says that the line which loads the file into the value, with the note
  // #once, was sent. Sets value.has_file.
  void was_sent(gt_value& value, const Store::Place& place, const Type& type);
  // Says that the value, which has_file, is gone or has been bound again: the
  // file is removed once a #sync is answered. It must not be earlier, though
  // the load may have run long before: gt-shard writes a load only when a line
  // reads its value and so says how it is to be sharded; a #sync before that
  // line would make gt-shard write it unsharded.
  void leave(gt_value& value);
  // Appends that #sync, if one is needed. The caller must send the text next.
  void append_sync(std::string& text);
  // Returns a place for a value to be saved at; the program saves it to
  // path_of().
  Store::Place reserve(const Type& type, Channel::Lock& lock);
  // Copies the bytes that were saved at the place, and gives the place back.
  // Returns false if there is no file, or one of another type.
  bool unpack(const Store::Place& place, const Type& type, void* bytes,
              Channel::Lock& lock);
  // Gives back a file that is no longer needed.
  void give(const Store::Place& place);
  // Returns the path by which the lines of the program name the file.
  const std::string& path_of(const Store::Place& place) const {
    return carrier_.is_needed() ? place.name : place.path;
  }

  // The same as gt_send_file() and gt_fetch_file(). The lock must be free.
  void send_file(const std::string& path);
  void fetch_file(const std::string& path);

  // If the program may go on after the client has closed, waits until all files
  // have been loaded, so that they can be removed. To be called before the
  // lines end.
  void wait_for_loads(Channel::Lock& lock);
  // Removes the files. The program has ended with this status.
  void end(Exit status);
  // After fork(), in the child: gives up what belongs to the parent.
  void forget() { carrier_.close_in_child(); }

  // Must be called once the channel was started, before all else.
  void start();

 private:
  struct Sent {
    Store::Place place;
    size_t bytes = 0;
  };
  void check(const Status& status, const Type& type);
  // Calls leave() for all values, and sends the #sync.
  void leave_all(Channel::Lock& lock);

  Channel& channel_;
  Store store_;
  FileCarrier carrier_;
  std::unordered_map<gt_value*, Sent> sent_;  // files of values that live
  // Files that can go once a #sync is answered.
  std::vector<Sent> left_;
  size_t travelling_ = 0;  // bytes of files that were not given back
};

}  // namespace gt::client
