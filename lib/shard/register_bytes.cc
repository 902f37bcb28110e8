#include "shard/register_bytes.h"

namespace gt::shard {

void RegisterBytes::bind(const std::string& name, const Ranks& ranks,
                         const std::vector<uint64_t>& bytes) {
  take_away(name, ranks);
  std::vector<Piece>& pieces = registers_[name];
  for (size_t i = 0; i < ranks.size(); ++i) {
    held_.add(ranks[i], bytes[i]);
    pieces.push_back({ranks[i], bytes[i]});
  }
}

void RegisterBytes::free(const std::string& name, const Ranks& ranks) {
  take_away(name, ranks);
  end_line();
}

void RegisterBytes::end_line() {
  for (const Piece& piece : replaced_) held_.drop(piece.rank, piece.bytes);
  replaced_.clear();
}

void RegisterBytes::take_away(const std::string& name, const Ranks& ranks) {
  const auto it = registers_.find(name);
  if (it == registers_.end()) return;
  std::erase_if(it->second, [&](const Piece& piece) {
    if (!place_in(ranks, piece.rank)) return false;
    replaced_.push_back(piece);
    return true;
  });
  if (it->second.empty()) registers_.erase(it);
}

}  // namespace gt::shard
