#include "serve/client_table.h"

#include <algorithm>

namespace gt::serve {

ClientEntry* ClientTable::find(ClientId client) {
  const auto at = clients_.find(client);
  return at == clients_.end() ? nullptr : &at->second;
}

const ClientEntry* ClientTable::find(const std::string& peer) const {
  const auto at = peers_.find(peer);
  return at == peers_.end() ? nullptr : &clients_.at(at->second);
}

ClientEntry* ClientTable::find(const std::string& peer) {
  const auto at = peers_.find(peer);
  return at == peers_.end() ? nullptr : &clients_.at(at->second);
}

ClientEntry* ClientTable::find(const std::string& owner,
                               const std::string& name) {
  const auto at = names_.find({owner, name});
  return at == names_.end() ? nullptr : &clients_.at(at->second);
}

ClientEntry& ClientTable::add(const std::string& peer,
                              const ClientHello& hello) {
  ClientEntry& entry = clients_[++last_];
  entry.client = last_;
  entry.key = hello.key;
  entry.owner = hello.owner();
  entry.name = hello.name;
  if (!entry.name.empty()) names_[{entry.owner, entry.name}] = entry.client;
  move(entry, peer);
  return entry;
}

void ClientTable::move(ClientEntry& entry, const std::string& peer) {
  peers_.erase(entry.peer);
  entry.peer = peer;
  entry.is_open = false;
  peers_[peer] = entry.client;
}

void ClientTable::leave(ClientEntry& entry, int64_t now) {
  peers_.erase(entry.peer);
  entry.peer.clear();
  entry.is_open = false;
  entry.since = now;
}

void ClientTable::remove(ClientId client) {
  const ClientEntry& entry = clients_.at(client);
  peers_.erase(entry.peer);
  if (!entry.name.empty()) names_.erase({entry.owner, entry.name});
  clients_.erase(client);
}

size_t ClientTable::count(const std::string& owner) const {
  return static_cast<size_t>(std::count_if(
      clients_.begin(), clients_.end(),
      [&](const auto& entry) { return entry.second.owner == owner; }));
}

std::vector<std::string> ClientTable::names(const std::string& owner) const {
  std::vector<std::string> names;
  for (auto at = names_.lower_bound({owner, ""});
       at != names_.end() && at->first.first == owner; ++at) {
    names.push_back(at->first.second);
  }
  return names;
}

}  // namespace gt::serve
