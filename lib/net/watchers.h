// Watchers is gt-route's end of the connections of those who watch it. A
// watcher says `watch` and gets one `state`, whole, in records (record.h); then
// it says `watch` again. So nothing piles up for a watcher that does not read.
// When the run ends, all get a last state and a `bye`, after which a watcher
// closes its connection.
//
// A watcher is forgotten if it has asked for nothing for kSilence, says
// anything but `watch`, or has no room for the state that it asked for. It is
// told so if possible, and may come again.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/exit.h"
#include "base/take_front.h"
#include "net/listener.h"

namespace gt::net {

class Watchers final : public ListenerState {
 public:
  // The most watchers at a time.
  static constexpr size_t kMost = 64;
  static constexpr int64_t kSilence = 10'000;  // milliseconds
  // The longest message that a watcher may send.
  static constexpr size_t kMaxAsked = 4096;

  size_t size() const { return watchers_.size(); }
  // True if somebody waits for a state.
  bool is_asked() const { return asked_ > 0; }
  // Sends the state to those who wait for one.
  void tell(std::string_view state);
  // Sends all watchers the last state, and how the run ended.
  void end(std::string_view state, Exit status);

  bool knows(const std::string& peer) const override {
    return watchers_.contains(peer);
  }
  void receive(const std::string& peer, Frame frame, int64_t now,
               const std::string& key) override;
  void distrust(const std::string& peer, const std::string& why,
                int64_t now) override;
  void turned_away(const std::string& who, int64_t now) override;
  void link_ended(const std::string& peer) override { forget(peer); }
  void undelivered(const std::string& peer) override { forget(peer); }
  void tick(int64_t now, bool all_read) override;
  int64_t next_tick() const override;
  bool next(Outgoing& out) override { return take_front(outgoing_, out); }

 private:
  struct Watcher {
    int64_t heard = 0;
    bool asks = false;  // it waits for a state
  };

  void refuse(const std::string& peer, std::string_view why);
  void forget(const std::string& peer);
  void put(const std::string& peer, const std::vector<Frame>& frames);

  std::unordered_map<std::string, Watcher> watchers_;
  size_t asked_ = 0;  // how many watchers wait for a state
  std::deque<Outgoing> outgoing_;
};

}  // namespace gt::net
