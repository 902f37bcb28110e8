#include "client/scopes.h"

#include <algorithm>

#include "stream/line.h"

namespace gt::client {

Scopes& Scopes::of_thread() {
  thread_local Scopes scopes;
  return scopes;
}

bool Scopes::begin(std::string_view key, std::string_view value) {
  const bool is_plain = std::none_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= ' ' || byte == 0x7f || c == '"' || c == '#';
  });
  if (!is_name(key) || !is_plain) return false;
  open_.emplace_back(key, value);
  write();
  return true;
}

void Scopes::end() {
  if (open_.empty()) return;
  open_.pop_back();
  write();
}

void Scopes::write() {
  text_.clear();
  for (size_t i = 0; i < open_.size(); ++i) {
    const auto same = [&](const auto& other) {
      return other.first == open_[i].first;
    };
    if (std::any_of(open_.begin(), open_.begin() + i, same)) continue;
    std::string value = open_[i].second;
    for (size_t j = i + 1; j < open_.size(); ++j) {
      if (!same(open_[j])) continue;
      value = open_[j].first == "signal" ? value + "/" + open_[j].second
                                         : open_[j].second;
    }
    text_ += " #" + open_[i].first;
    if (!value.empty()) text_ += "=" + value;
  }
}

}  // namespace gt::client
