// Lends the files below --files, and takes what is stored there: those who
// borrow them (net/file_talk.h), each with its Lender. Knows no socket and no
// clock: time is passed in, in milliseconds, and what is to be sent is handed
// out.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/take_front.h"
#include "net/keys.h"
#include "net/listener.h"
#include "net/wire.h"
#include "serve/lender.h"

namespace gt::serve {

struct DepotOptions {
  LenderOptions lender;
  // With keys: those who may come now, and whose each is.
  std::optional<std::map<std::string, net::KeyHolder>> users = std::nullopt;
  size_t most = 4096;        // borrowers at once ...
  size_t most_of_user = 16;  // ... and those of one user; of workers `most`
  int64_t beat = 500;        // ms between signs of life, to those who wait
  int64_t silence = 60'000;  // ms; then a borrower that asks nothing is gone
};

class Depot : public net::ListenerState {
 public:
  Depot(DepotOptions options, int64_t now);

  // Whether it is the hello of one who borrows files.
  static bool is_for_us(const net::Message& hello) {
    return hello.verb == net::Verb::kHello && hello.find("files") != nullptr;
  }

  bool knows(const std::string& peer) const override {
    return peers_.contains(peer);
  }
  void receive(const std::string& peer, net::Frame frame, int64_t now,
               const std::string& key) override;
  void distrust(const std::string& peer, const std::string& why,
                int64_t now) override;
  void turned_away(const std::string& /*who*/, int64_t /*now*/) override {}
  void link_ended(const std::string& peer) override { drop(peer); }
  void undelivered(const std::string& peer) override { drop(peer); }
  void tick(int64_t now, bool all_read) override;
  int64_t next_tick() const override;
  bool next(Outgoing& out) override { return take_front(outgoing_, out); }

  // With keys: who may come from now on. Those who may no longer are lost.
  void set_users(const std::map<std::string, net::KeyHolder>& users);

 private:
  struct Peer {
    std::string key, user;
    std::unique_ptr<Lender> lender;
    int64_t heard = 0;
  };

  void take_hello(const std::string& peer, const net::Message& hello,
                  int64_t now, const std::string& key);
  // Whose files the one who says a hello borrows; "": all, it is a worker.
  Result<std::string> user_of(const net::Message& hello,
                              const std::string& key) const;
  std::unique_ptr<Lender> make_lender(const std::string& user);
  void collect(const std::string& peer, Lender& lender);
  void check(const std::string& peer, const Status& status);
  void end(const std::string& peer, net::Verb verb, const std::string& why);
  void drop(const std::string& peer);
  void put(const std::string& peer, std::string message);

  DepotOptions options_;
  std::unordered_map<std::string, Peer> peers_;
  // Of those who are gone, while a thread works for them.
  std::vector<std::unique_ptr<Lender>> ending_;
  std::deque<Outgoing> outgoing_;
  int64_t now_;
  int64_t next_beat_;
};

}  // namespace gt::serve
