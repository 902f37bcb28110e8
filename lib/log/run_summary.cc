#include "log/run_summary.h"

#include <algorithm>
#include <charconv>

#include "base/units.h"
#include "log/table.h"
#include "stream/ranks.h"

namespace gt::log {
namespace {

uint64_t number_of(std::string_view text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

void RunSummary::take_issue(const LogRow& row) {
  const auto peers = parse_ranks(row.peer);
  if (peers.ok()) {
    for (const int64_t peer : peers.value()) {
      ++workers_[static_cast<uint64_t>(peer)].lines;
    }
  }
  const bool is_new = clients_.find(row.client) == clients_.end();
  if (is_new && clients_.size() >= kMaxClients) return;
  Client& client = clients_[std::string(row.client)];
  ++client.lines;
  client.bytes += number_of(row.bytes);
}

void RunSummary::take(const LogRow& row) {
  switch (log_.take(row)) {
    case RunLog::Event::kIssue:
      return take_issue(row);
    case RunLog::Event::kSend: {
      Worker& worker = workers_[number_of(row.peer)];
      ++worker.messages;
      worker.sent += number_of(row.bytes);
      return;
    }
    case RunLog::Event::kSpan: {
      const RunLog::Span& span = log_.span();
      Worker& worker = workers_[span.worker];
      (span.queue == "comm" ? worker.comm : worker.busy) +=
          span.end - span.start;
      end_ = std::max(end_, span.end);
      return;
    }
    case RunLog::Event::kTransfer:
      workers_[log_.transfer().to].received += log_.transfer().bytes;
      return;
    case RunLog::Event::kReport: {
      const auto client = clients_.find(row.client);
      if (client != clients_.end()) ++client->second.failures;
      return;
    }
    case RunLog::Event::kOther:
      return;
  }
}

std::string RunSummary::text() const {
  std::vector<Cells> table = {{"worker", "lines", "messages", "sent",
                               "received", "busy", "share", "comm"}};
  for (const auto& [number, w] : workers_) {
    const double share = 100 * static_cast<double>(w.busy) /
                         static_cast<double>(std::max<uint64_t>(end_, 1));
    table.push_back(
        {std::to_string(number), std::to_string(w.lines),
         std::to_string(w.messages), bytes_text(static_cast<double>(w.sent)),
         bytes_text(static_cast<double>(w.received)),
         time_text(static_cast<double>(w.busy)), decimal(share, 1) + " %",
         time_text(static_cast<double>(w.comm))});
  }
  std::string out = "\n";
  append_columns(out, table);
  table = {{"client", "lines", "bytes", "failures"}};
  for (const auto& [name, c] : clients_) {
    table.push_back({cell(name), std::to_string(c.lines),
                     bytes_text(static_cast<double>(c.bytes)),
                     std::to_string(c.failures)});
  }
  out += '\n';
  append_columns(out, table);
  return out;
}

std::string RunSummary::tsv() const {
  std::string out;
  for (const auto& [number, w] : workers_) {
    out += "worker\t" + std::to_string(number) + "\t" +
           std::to_string(w.lines) + "\t0\t" + std::to_string(w.received) +
           "\t-\t" + std::to_string(w.busy) + "\n";
  }
  for (const auto& [name, c] : clients_) {
    out += "client\t" + cell(name) + "\t" + std::to_string(c.lines) + "\t0\t" +
           std::to_string(c.bytes) + "\t-\t-\n";
  }
  return out;
}

}  // namespace gt::log
