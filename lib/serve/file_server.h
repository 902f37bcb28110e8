// FileServer: lends the files below --files, and takes files that are stored
// there. Each borrower (net/file_talk.h) has a Lender. The FileServer uses no
// socket and no clock: time is passed in, in milliseconds, and messages to be
// sent are taken out by next().
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

struct FileServerOptions {
  LenderOptions lender;
  // With keys: who is admitted now, and which user each key belongs to.
  std::optional<std::map<std::string, net::KeyHolder>> users = std::nullopt;
  size_t most = 4096;        // borrowers at once
  size_t most_of_user = 16;  // borrowers of one user; workers may be `most`
  int64_t beat = 500;        // ms between signs of life to those who wait
  // Milliseconds after which a borrower that asks for nothing is gone.
  int64_t silence = 60'000;
};

class FileServer : public net::ListenerState {
 public:
  // Files are touched on `threads`, which must outlive the object, and whose
  // fd() says that tick() has answers to collect.
  FileServer(FileServerOptions options, DiskThreads& threads, int64_t now);

  // True if it is the hello of a borrower of files.
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
  int64_t next_tick() const override { return next_beat_; }
  bool next(Outgoing& out) override { return take_front(outgoing_, out); }

  // With keys: sets who is admitted from now on. Borrowers that no longer are
  // get disconnected.
  void set_users(const std::map<std::string, net::KeyHolder>& users);

 private:
  struct Peer {
    std::string key, user;
    std::unique_ptr<Lender> lender;
    int64_t heard = 0;
  };

  void take_hello(const std::string& peer, const net::Message& hello,
                  int64_t now, const std::string& key);
  // Returns the user whose files the sender of a hello borrows; "" for a
  // worker, which borrows those of all.
  Result<std::string> user_of(const net::Message& hello,
                              const std::string& key) const;
  std::unique_ptr<Lender> make_lender(const std::string& user);
  void collect(const std::string& peer, Lender& lender);
  void check(const std::string& peer, const Status& status);
  void end(const std::string& peer, net::Verb verb, const std::string& why);
  void drop(const std::string& peer);
  void put(const std::string& peer, std::string message);

  FileServerOptions options_;
  DiskThreads& threads_;
  std::unordered_map<std::string, Peer> peers_;
  std::deque<Outgoing> outgoing_;
  int64_t next_beat_;
};

}  // namespace gt::serve
