#include "serve/file_server.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "serve/client_hello.h"

namespace gt::serve {

FileServer::FileServer(FileServerOptions options, DiskThreads& threads,
                       int64_t now)
    : options_(std::move(options)),
      threads_(threads),
      next_beat_(now + options_.beat) {}

void FileServer::put(const std::string& peer, std::string message) {
  outgoing_.push_back({peer, net::Frame(std::move(message))});
}

// ---- connections ------------------------------------------------------------

void FileServer::receive(const std::string& peer, net::Frame frame, int64_t now,
                         const std::string& key) {
  auto owned = net::read_owned_message(std::move(frame));
  const auto at = peers_.find(peer);
  if (at == peers_.end()) {
    if (owned.ok()) take_hello(peer, owned.value().message, now, key);
    return;
  }
  at->second.heard = now;
  Lender& lender = *at->second.lender;
  const Status taken = owned.ok() ? lender.take(std::move(owned.value()))
                                  : Status(owned.error());
  collect(peer, lender);
  check(peer, taken);
}

Result<std::string> FileServer::user_of(const net::Message& hello,
                                        const std::string& key) const {
  const auto version = net::number(hello, "version");
  if (!version.ok()) return version.error();
  if (version.value() != net::kWireVersion) {
    return Error{
        "it is of another version of gt; install the same gt on both sides"};
  }
  if (options_.lender.files.empty()) {
    return Error{"it lends no files; whoever runs it can, with --files"};
  }
  std::string user = hello.text("user");
  const bool is_worker = hello.find("worker") != nullptr;
  if (options_.users) {
    const auto holder = options_.users->find(key);
    const bool is_known = holder != options_.users->end();
    if (is_worker && !(is_known && holder->second.is_worker)) {
      return Error{"the key " + key +
                   " is no worker's; role=worker behind it in --allow says "
                   "that it is"};
    }
    user = is_known ? holder->second.user : "";
    if (!is_worker && user.empty()) {
      return Error{"the key " + key +
                   " is nobody's who has files; user=NAME behind it in "
                   "--allow says whose it is"};
    }
  }
  if (is_worker) return std::string();
  if (!net::is_user_name(user)) return Error{"'' is no name of a user"};
  return user;
}

std::unique_ptr<Lender> FileServer::make_lender(const std::string& user) {
  Lender::Others others;
  others.promised = [this](const std::string& root) {
    uint64_t sum = 0;
    for (const auto& [peer, state] : peers_) {
      sum += state.lender->promised(root);
    }
    return sum;
  };
  others.claim = [this](const std::string& root, const std::string& name) {
    for (const auto& [peer, state] : peers_) {
      state.lender->yield_upload(root, name);
    }
  };
  return std::make_unique<Lender>(options_.lender, user, std::move(others),
                                  threads_);
}

void FileServer::take_hello(const std::string& peer, const net::Message& hello,
                            int64_t now, const std::string& key) {
  if (!is_for_us(hello)) return;
  const auto user = user_of(hello, key);
  if (!user.ok()) return end(peer, net::Verb::kRefuse, user.error().message);
  const auto of_user =
      static_cast<size_t>(std::ranges::count_if(peers_, [&](const auto& other) {
        return other.second.user == user.value();
      }));
  const size_t most =
      user.value().empty() ? options_.most : options_.most_of_user;
  if (peers_.size() >= options_.most || of_user >= most) {
    return end(peer, net::Verb::kRefuse,
               "as many others as it takes are here already");
  }
  Peer state;
  state.key = key;
  state.user = user.value();
  state.heard = now;
  state.lender = make_lender(user.value());
  Lender& lender = *state.lender;
  peers_.emplace(peer, std::move(state));
  check(peer, lender.greet());
}

void FileServer::distrust(const std::string& peer, const std::string& why,
                          int64_t /*now*/) {
  end(peer, net::Verb::kRefuse,
      why + "; without keys only processes of one user are taken");
}

void FileServer::end(const std::string& peer, net::Verb verb,
                     const std::string& why) {
  put(peer, net::MessageWriter(verb).finish(net::words(why)));
  drop(peer);
}

void FileServer::drop(const std::string& peer) {
  const auto at = peers_.find(peer);
  if (at == peers_.end()) return;
  at->second.lender->stop();
  peers_.erase(at);
}

void FileServer::set_users(const std::map<std::string, net::KeyHolder>& users) {
  std::vector<std::string> gone;
  for (const auto& [peer, state] : peers_) {
    const auto holder = users.find(state.key);
    const bool may_stay =
        holder != users.end() &&
        (state.user.empty() ? holder->second.is_worker
                            : holder->second.user == state.user);
    if (!may_stay) gone.push_back(peer);
  }
  options_.users = users;
  for (const std::string& peer : gone) {
    end(peer, net::Verb::kRefuse,
        "its key is no longer one of those to be admitted");
  }
}

// ---- answers ----------------------------------------------------------------

void FileServer::collect(const std::string& peer, Lender& lender) {
  net::Frame frame;
  while (lender.next(frame)) outgoing_.push_back({peer, std::move(frame)});
}

void FileServer::check(const std::string& peer, const Status& status) {
  if (status.ok()) return;
  const auto at = peers_.find(peer);
  const bool was_welcome =
      at != peers_.end() && at->second.lender->was_welcome();
  end(peer, was_welcome ? net::Verb::kBye : net::Verb::kRefuse,
      status.error().message);
}

void FileServer::tick(int64_t now, bool all_read) {
  const bool beats = now >= next_beat_;
  if (beats) next_beat_ = now + options_.beat;
  std::vector<std::pair<std::string, Status>> bad;
  const Status silent =
      Error{"it asked for nothing for " + seconds_text(options_.silence)};
  for (auto& [peer, state] : peers_) {
    Lender& lender = *state.lender;
    if (lender.is_busy()) {
      state.heard = now;
      if (beats) put(peer, net::MessageWriter(net::Verb::kBeat).finish());
      const Status worked = lender.work();
      collect(peer, lender);
      if (!worked.ok()) bad.emplace_back(peer, worked);
    } else if (all_read && now - state.heard >= options_.silence) {
      bad.emplace_back(peer, silent);
    }
  }
  for (const auto& [peer, status] : bad) check(peer, status);
}

}  // namespace gt::serve
