#include "client/scopes.h"

#include <algorithm>

#include "stream/line.h"

namespace gt::client {

Scopes& Scopes::of_thread() {
  thread_local Scopes scopes;
  return scopes;
}

int Scopes::begin(std::string_view key, std::string_view value) {
  const bool is_plain = std::none_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= ' ' || byte == 0x7f || c == '"' || c == '#';
  });
  if (!is_name(key) || !is_plain) return -1;
  const int number = open_.empty() ? 0 : open_.back().number + 1;
  open_.push_back({number, std::string(key), std::string(value)});
  write();
  return number;
}

void Scopes::end(int number) {
  const size_t ended = std::erase_if(
      open_, [&](const Scope& scope) { return scope.number == number; });
  if (ended > 0) write();
}

void Scopes::write() {
  text_.clear();
  for (size_t i = 0; i < open_.size(); ++i) {
    const auto same = [&](const auto& other) {
      return other.key == open_[i].key;
    };
    if (std::any_of(open_.begin(), open_.begin() + i, same)) continue;
    std::string value = open_[i].value;
    for (size_t j = i + 1; j < open_.size(); ++j) {
      if (!same(open_[j])) continue;
      value = open_[j].key == "signal" ? value + "/" + open_[j].value
                                       : open_[j].value;
    }
    text_ += " #" + open_[i].key;
    if (!value.empty()) text_ += "=" + value;
  }
}

}  // namespace gt::client
