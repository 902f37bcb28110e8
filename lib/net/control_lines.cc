#include "net/control_lines.h"

#include <algorithm>

#include "base/message.h"
#include "base/text.h"
#include "stream/line.h"
#include "stream/ranks.h"

namespace gt::net {
namespace {

// Ends one string and begins another. Within a string a quote has a backslash.
constexpr std::string_view kBetween = "\" \"";

bool read_rank(std::string_view text, int64_t& rank) {
  return read_number(text, rank) && rank >= 0;
}

// Parses "FIRST-LAST=WORKER" or "RANK=WORKER".
Result<RanksLine::Block> parse_block(std::string_view text) {
  const Error wrong{"#ranks: '" + excerpt(text) +
                    "' is not RANK=WORKER or FIRST-LAST=WORKER"};
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return wrong;
  const std::string_view ranks = text.substr(0, equals);
  const size_t dash = ranks.find('-');
  RanksLine::Block block;
  if (!read_rank(ranks.substr(0, dash), block.first) ||
      !read_number(text.substr(equals + 1), block.worker)) {
    return wrong;
  }
  block.last = block.first;
  if (dash != std::string_view::npos &&
      !read_rank(ranks.substr(dash + 1), block.last)) {
    return wrong;
  }
  if (block.last < block.first || block.last > kMaxRank) return wrong;
  return block;
}

// Returns what follows the first word and its blank.
std::string_view after_word(std::string_view line) {
  return line.substr(line.find(' ') + 1);
}

}  // namespace

std::string file_line(std::string_view name) { return "#file " + quote(name); }

std::string text_of(const RanksLine& line) {
  std::string out = "#ranks " + (line.space.empty() ? "-" : line.space);
  for (const RanksLine::Block& block : line.blocks) {
    out += " " + std::to_string(block.first) + "-" +
           std::to_string(block.last) + "=" + std::to_string(block.worker);
  }
  return out;
}

std::string text_of(const FenceLine& line) {
  std::string out = "#fence " + std::to_string(line.from);
  for (size_t i = 0; i < line.to.size(); ++i) {
    out += (i == 0 ? " " : ",") + std::to_string(line.to[i]);
  }
  return out + " " + quote(line.file);
}

std::string failed_save_line(const std::string& path, const std::string& why) {
  return "#unsaved " + quote(path) + " " + quote(why);
}

Result<FailedSave> parse_failed_save_line(std::string_view line) {
  const std::string_view strings = after_word(line);
  const size_t second = strings.find(kBetween);
  if (second == std::string_view::npos) {
    return Error{"usage: #unsaved \"PATH\" \"WHY\""};
  }
  return FailedSave{unquote(strings.substr(0, second + 1)),
                    unquote(strings.substr(second + kBetween.size() - 1))};
}

std::string parse_file_line(std::string_view line) {
  return unquote(after_word(line));
}

Result<RanksLine> parse_ranks_line(std::string_view line) {
  std::string_view words = after_word(line);
  const std::string_view space = take_word(words);
  if (space.empty()) {
    return Error{"#ranks: usage: #ranks SPACE RANKS=WORKER..."};
  }
  RanksLine ranks;
  if (space != "-") ranks.space = space;
  for (auto text = take_word(words); !text.empty(); text = take_word(words)) {
    const auto block = parse_block(text);
    if (!block.ok()) return block.error();
    ranks.blocks.push_back(block.value());
  }
  return ranks;
}

Result<FenceLine> parse_fence_line(std::string_view line) {
  std::string_view words = after_word(line);
  const size_t quoted = std::min(words.find('"'), words.size());
  FenceLine fence;
  fence.file = unquote(words.substr(quoted));
  words = words.substr(0, quoted);
  std::vector<uint32_t> workers;
  const auto next = [&words] { return take_word(words, " \t,"); };
  for (std::string_view word = next(); !word.empty(); word = next()) {
    if (!read_number(word, workers.emplace_back())) {
      return Error{"#fence: '" + std::string(word) + "' is no worker"};
    }
  }
  if (workers.size() < 2) return Error{"usage: #fence FROM TO,... FILE"};
  fence.from = workers[0];
  fence.to.assign(workers.begin() + 1, workers.end());
  return fence;
}

}  // namespace gt::net
