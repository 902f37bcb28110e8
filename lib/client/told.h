// Told: what the programs of a session tell people. It goes on to standard
// error; and the failures in it are kept until an exception has shown them, so
// that none is overlooked.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/result.h"
#include "file/files.h"

namespace gt::client {

class Told {
 public:
  Told() = default;
  Told(const Told&) = delete;
  Told& operator=(const Told&) = delete;
  ~Told() { close(); }

  // Starts to listen. Error: the system's message.
  Status start();
  // The descriptor that is the programs' standard error.
  int end() const { return end_.get(); }

  // An exception shows the message, which may begin with a place: what failed
  // there counts as seen.
  void saw(std::string_view message);
  // Waits until what the programs have written so far is noted.
  void drain();
  // Returns the failures that nobody has seen, "PLACE: WHY", which are seen
  // now.
  std::vector<std::string> take_failures();
  // True if the programs told of any failure.
  bool any() const;
  // Ends the listening, once what the programs have written so far is noted. A
  // process of theirs that has not ended is heard no more.
  void close();
  // After fork(), in the child: gives up what belongs to the parent.
  void forget();

 private:
  void run(Fd told);
  bool take(std::string_view line);
  void note(std::string_view line);

  Fd end_;
  std::thread thread_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable drained_;
  uint64_t marks_ = 0;    // that drain() has written
  uint64_t reached_ = 0;  // the last of them that was read
  // The failures that no exception has shown, by place.
  std::map<std::string, std::string, std::less<>> failures_;
  std::set<std::string, std::less<>> seen_;  // places that one has shown
  bool any_ = false;
};

}  // namespace gt::client
