#include "route/users.h"

#include <algorithm>

#include "stream/marks.h"

namespace gt::route {

Users::Users(ResultSources& sources) : sources_(sources) {
  orders_.push_back(std::make_unique<ResultOrder>(sources_));
}

UserId Users::of(std::string_view text) {
  if (!is_split_) return 0;
  const std::string_view space = outer_space(text);
  if (space.empty()) return 0;
  const auto known = ids_.find(space);
  if (known != ids_.end()) return known->second;
  auto id = static_cast<UserId>(orders_.size());
  if (free_.empty()) {
    orders_.push_back(std::make_unique<ResultOrder>(sources_));
    lines_.push_back(0);
  } else {
    id = free_.back();
    lines_[id] = 0;
    free_.pop_back();
  }
  ids_.emplace(space, id);
  return id;
}

void Users::emit(std::string& out, size_t most, const IsDone& is_done,
                 const ResultOrder::Sink& sink) {
  ++turn_;
  for (size_t i = 0; i < orders_.size() && out.size() < most; ++i) {
    orders_[(turn_ + i) % orders_.size()]->emit(out, most, is_done, sink);
  }
}

void Users::fail(const std::string& why) {
  for (const auto& order : orders_) order->fail(why);
  sources_.forget();
}

void Users::fail(uint32_t worker) {
  for (const auto& order : orders_) order->fail(worker);
}

bool Users::empty() const {
  return std::ranges::all_of(
      orders_, &ResultOrder::empty,
      [](const auto& o) -> const ResultOrder& { return *o; });
}

uint64_t Users::bytes() const {
  uint64_t bytes = 0;
  for (const auto& order : orders_) bytes += order->bytes();
  return bytes;
}

}  // namespace gt::route
