#include "net/links.h"

#include <utility>

namespace gt::net {
namespace {

void move_out(std::unordered_map<int, std::string>& from, int fd,
              std::deque<std::string>& to) {
  const auto found = from.find(fd);
  if (found == from.end()) return;
  to.push_back(std::move(found->second));
  from.erase(found);
}

template <typename Item>
bool take_first(std::deque<Item>& from, Item& item) {
  if (from.empty()) return false;
  item = std::move(from.front());
  from.pop_front();
  return true;
}

}  // namespace

void Links::claim(int fd, const std::string& peer) {
  watch();
  owners_[fd] = peer;
}

void Links::watch() {
  LinkEvent event;
  while (monitor_.next(event)) {
    switch (event.kind) {
      case LinkEvent::Kind::kUp:
        break;
      case LinkEvent::Kind::kConnected:
        endpoints_[event.fd] = event.endpoint;
        made_.push_back(event);
        break;
      case LinkEvent::Kind::kDown:
        move_out(owners_, event.fd, ended_);
        move_out(endpoints_, event.fd, broken_);
        break;
      default:
        ++rejected_;
    }
  }
}

bool Links::next_ended(std::string& peer) { return take_first(ended_, peer); }

bool Links::next_made(LinkEvent& made) { return take_first(made_, made); }

bool Links::next_broken(std::string& endpoint) {
  return take_first(broken_, endpoint);
}

}  // namespace gt::net
