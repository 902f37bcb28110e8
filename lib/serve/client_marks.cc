#include "serve/client_marks.h"

#include <fmt/format.h>

#include <utility>

#include "net/record.h"

namespace gt::serve {
namespace {

// Returns the client's line, with its LF.
std::string line_of(ClientId id, const Multiplexer::View& view) {
  std::string line = "#";
  {
    net::RecordWriter record(line, "client");
    record.field("name", "c" + std::to_string(id))
        .field("user", view.user)
        .field("state", view.state)
        .field("share", fmt::format("{}", view.share))
        .field("served_ns", view.served)
        .field("blocks", uint64_t{view.blocks})
        .field("queued_ns", view.under_way)
        .field("waits", uint64_t{view.waits})
        .field("memory", view.usage.bytes)
        .field("names", view.usage.names)
        .field("unread", view.unread);
    if (view.usage.quota.bytes != UINT64_MAX) {
      record.field("quota", view.usage.quota.bytes);
    }
  }
  return line;
}

}  // namespace

void ClientMarks::write(const Multiplexer& multiplexer, int64_t now,
                        std::string& out) {
  waits_ = multiplexer.clients() > 0 || !told_.empty();
  if (now < next_ || !waits_) return;
  waits_ = false;
  std::map<ClientId, std::string> lines;
  multiplexer.each_view([&lines](ClientId id, const Multiplexer::View& view) {
    lines.emplace(id, line_of(id, view));
  });
  const size_t before = out.size();
  for (const auto& [id, line] : lines) {
    if (std::exchange(told_[id], line) != line) out += line;
  }
  std::erase_if(told_, [&](const auto& one) {
    if (lines.contains(one.first)) return false;
    out += "#client name=c" + std::to_string(one.first) + " state=gone\n";
    return true;
  });
  if (out.size() != before) next_ = now + kApart;
}

}  // namespace gt::serve
