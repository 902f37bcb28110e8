// Blocks of text that workers were sent and keep. When a block is sent again, a
// worker that keeps it gets its id (a message `hot`, net/wire.h) in place of
// the text. A block is found by its bytes. Those that were not used for longest
// are forgotten when all have more than kMostBytes, and workers are told to
// forget them too. The ids are not those of the notes #hot= (block_finder.h).
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.h"

namespace gt::route {

struct SentBlock {
  uint64_t id = 0;
  std::string text;
  mutable bool is_kept = true;  // false: BlockTable has forgotten it
};

class BlockTable {
 public:
  static constexpr size_t kMostBytes = size_t{4} << 20;  // in all texts

  explicit BlockTable(size_t most_bytes = kMostBytes) : most_(most_bytes) {}

  // Returns the block of that text, and makes it if there is none yet. The hash
  // only finds it; the text is compared.
  std::shared_ptr<const SentBlock> obtain(std::string_view text) {
    const uint64_t hash = hash_bytes(text);
    const auto known = places_.find(hash);
    if (known != places_.end()) {
      if ((*known->second)->text == text) {
        blocks_.splice(blocks_.begin(), blocks_, known->second);
        return blocks_.front();
      }
      forget(known->second);
    }
    bytes_ += text.size();
    blocks_.push_front(std::make_shared<const SentBlock>(
        SentBlock{++last_id_, std::string(text), true}));
    places_[hash] = blocks_.begin();
    while (bytes_ > most_ && blocks_.size() > 1) {
      forget(std::prev(blocks_.end()));
    }
    return blocks_.front();
  }

  // Returns the ids of blocks that were forgotten since the last call.
  std::vector<uint64_t> take_forgotten() {
    return std::exchange(forgotten_, {});
  }
  size_t bytes() const { return bytes_; }
  size_t size() const { return blocks_.size(); }

 private:
  using Blocks =
      std::list<std::shared_ptr<const SentBlock>>;  // last used first
  void forget(Blocks::iterator block) {
    bytes_ -= (*block)->text.size();
    (*block)->is_kept = false;
    forgotten_.push_back((*block)->id);
    places_.erase(hash_bytes((*block)->text));
    blocks_.erase(block);
  }

  size_t most_;
  size_t bytes_ = 0;
  uint64_t last_id_ = 0;
  Blocks blocks_;
  std::unordered_map<uint64_t, Blocks::iterator> places_;  // by hash
  std::vector<uint64_t> forgotten_;
};

}  // namespace gt::route
