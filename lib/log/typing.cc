#include "log/typing.h"

#include <utility>

#include "base/hash.h"
#include "ops/op.h"

namespace gt::log {

const Priced& Typing::take(std::string_view text) {
  const uint64_t hash = hash_bytes(text);
  const auto holds = [this](const Entry& entry) {
    return entry.version == walker_.version() &&
           walker_.still_holds(entry.line);
  };
  if (const Entry* known = known_.find(hash, text, holds)) {
    walker_.bind(known->line);
    return known->priced;
  }
  entry_.priced = {};
  price(text, entry_);
  walker_.bind(entry_.line);
  if (entry_.line.is_lasting && known_.wants(hash, text)) {
    auto kept = std::make_unique<Entry>(entry_);
    kept->text = text;
    known_.insert(hash, std::move(kept), [this](const Entry& entry) {
      return entry.version != walker_.version() || walker_.is_past(entry.line);
    });
  }
  return entry_.priced;
}

void Typing::price(std::string_view text, Entry& entry) {
  entry.line.reads.clear();
  entry.line.writes.clear();
  if (!parse_line(text, line_).ok()) return;
  Priced& priced = entry.priced;
  priced.op = line_.op;
  if (const std::string_view* signal = line_.note("signal")) {
    priced.signal = unquote(*signal);
  }
  bool is_called = false;
  const auto add = [&](const Call& call) {
    is_called = true;
    priced.bytes += bytes(call);
    priced.flops += flops(call);
  };
  walker_.read(line_, add, entry.line);
  entry.version = walker_.version();
  priced.typed = entry.line.is_typed;
  if (!priced.typed) {
    priced.bytes = priced.flops = 0;
  } else if (!is_called && entry.line.statement != Statement::kFree) {
    // The bytes that are moved between ranks, or written to the results.
    priced.bytes = bytes_of(entry.line.reads) + bytes_of(entry.line.writes);
  }
}

double Typing::bytes_of(const std::vector<WalkedPart>& parts) const {
  double sum = 0;
  for (const WalkedPart& part : parts) {
    if (part.stamp.type == kNoType) continue;
    sum += static_cast<double>(walker_.type(part.stamp.type).bytes());
  }
  return sum;
}

}  // namespace gt::log
