#include "net/links.h"

#include <utility>

namespace gt {

void Links::claim(int fd, const std::string& peer) {
  watch();
  owners_[fd] = peer;
}

void Links::watch() {
  LinkEvent event;
  while (monitor_.next(event)) {
    if (event.kind == LinkEvent::Kind::kUp) continue;
    if (event.kind != LinkEvent::Kind::kDown) {
      ++rejected_;
      continue;
    }
    const auto found = owners_.find(event.fd);
    if (found == owners_.end()) continue;
    ended_.push_back(std::move(found->second));
    owners_.erase(found);
  }
}

bool Links::next_ended(std::string& peer) {
  if (ended_.empty()) return false;
  peer = std::move(ended_.front());
  ended_.pop_front();
  return true;
}

}  // namespace gt
