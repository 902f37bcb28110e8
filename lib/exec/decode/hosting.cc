#include "exec/decode/hosting.h"

#include "base/message.h"
#include "base/text.h"
#include "stream/ranks.h"

namespace gt::exec {
namespace {

bool read_count(std::string_view text, int64_t& number) {
  return read_number(text, number) && number >= 0;
}

}  // namespace

Result<Hosting::Block> Hosting::parse_block(std::string_view text) const {
  const Error wrong{"#ranks: '" + excerpt(text) +
                    "' is not RANK=WORKER or FIRST-LAST=WORKER"};
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return wrong;
  const std::string_view ranks = text.substr(0, equals);
  const size_t dash = ranks.find('-');
  Block block;
  int64_t worker = 0;
  if (!read_count(ranks.substr(0, dash), block.first) ||
      !read_count(text.substr(equals + 1), worker)) {
    return wrong;
  }
  block.last = block.first;
  if (dash != std::string_view::npos &&
      !read_count(ranks.substr(dash + 1), block.last)) {
    return wrong;
  }
  if (block.last < block.first || block.last > kMaxRank) return wrong;
  if (worker >= workers_) {
    return Error{"#ranks: there is no worker " + std::to_string(worker) +
                 " among " + std::to_string(workers_)};
  }
  block.worker = static_cast<uint32_t>(worker);
  return block;
}

Status Hosting::take(std::string_view words) {
  const std::string_view word = take_word(words);
  if (word.empty()) return Error{"#ranks: usage: #ranks SPACE RANKS=WORKER..."};
  const std::string_view name = word == "-" ? std::string_view{} : word;
  std::vector<Block> blocks;
  for (auto text = take_word(words); !text.empty(); text = take_word(words)) {
    const auto block = parse_block(text);
    if (!block.ok()) return block.error();
    blocks.push_back(block.value());
  }
  if (blocks.empty()) {
    if (spaces_.erase(name)) ++version_;
    return ok_status();
  }
  std::vector<uint32_t>& of = spaces_.obtain(name);
  bool changed = false;
  for (const Block& block : blocks) {
    const auto end = static_cast<size_t>(block.last) + 1;
    if (of.size() < end) of.resize(end, kNobody);
    for (auto r = static_cast<size_t>(block.first); r < end; ++r) {
      changed = changed || of[r] != block.worker;
      of[r] = block.worker;
    }
  }
  if (changed) ++version_;
  return ok_status();
}

// The space of a name is the innermost of its spaces that is known here, as
// with meshes; if none is known, the space without a name.
std::optional<unsigned> Hosting::worker_of(std::string_view name,
                                           int64_t rank) const {
  const std::vector<uint32_t>* workers = spaces_.of(name);
  const auto r = static_cast<size_t>(rank);
  if (workers == nullptr || r >= workers->size() || (*workers)[r] == kNobody) {
    return std::nullopt;
  }
  return (*workers)[r];
}

}  // namespace gt::exec
