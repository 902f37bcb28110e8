#include "net/roster.h"

#include "base/message.h"
#include "base/text.h"
#include "net/endpoint.h"
#include "net/keys.h"
#include "stream/line.h"

namespace gt::net {
namespace {

Status read_name(const Message& hello, std::string_view key,
                 std::string& value) {
  value = hello.text(key);
  if (value.size() <= kMaxName) return ok_status();
  return Error{"hello: " + std::string(key) + "= has more than " +
               std::to_string(kMaxName) + " bytes"};
}

Status read_rank(const Message& hello, std::optional<uint32_t>& rank) {
  if (hello.find("rank") == nullptr) return ok_status();
  const auto value = number(hello, "rank");
  if (!value.ok()) return value.error();
  if (value.value() >= kMaxWorkers) {
    return Error{"hello: rank=" + std::to_string(value.value()) +
                 " is beyond " + std::to_string(kMaxWorkers - 1)};
  }
  rank = static_cast<uint32_t>(value.value());
  return ok_status();
}

Result<RosterEntry> parse_entry(std::string_view line) {
  const std::string_view whole = line;
  std::string values[5];
  bool is_good = true;
  for (size_t i = 0; i < 5 && is_good; ++i) {
    if (i > 0) is_good = line.starts_with(' ');
    if (i > 0 && is_good) line.remove_prefix(1);
    const std::string_view value = take_value(line);
    is_good = is_good && !value.empty();
    values[i] = unquote(value);
  }
  uint64_t worker = 0;
  RosterEntry entry{0, values[1], values[2], values[3], 0, {}};
  if (is_good && line.starts_with(' ')) {
    entry.key = line.substr(1);
    line = is_key(entry.key) ? std::string_view() : line;
  }
  if (!is_good || !line.empty() || !read_number(values[0], worker) ||
      worker >= kMaxWorkers || !read_number(values[4], entry.pid)) {
    return Error{"'" + excerpt(whole) +
                 "' is not number, name, host, endpoint, pid of a worker"
                 " and its key, if it has one"};
  }
  if (!entry.data.empty()) {
    const Status status = check_connectable(entry.data);
    if (!status.ok()) {
      return Error{"'" + excerpt(whole) + "': " + status.error().message};
    }
  }
  entry.worker = static_cast<uint32_t>(worker);
  return entry;
}

}  // namespace

std::string describe(uint32_t worker, const WorkerInfo& info) {
  return "worker " + std::to_string(worker) + " (" + excerpt(info.name) +
         " on " + excerpt(info.host) + ", pid " + std::to_string(info.pid) +
         ")";
}

std::string_view worker_named(std::string_view words) {
  constexpr std::string_view kFrom = "from worker ";
  const size_t at = words.rfind(kFrom);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = words.substr(at + kFrom.size());
  return rest.substr(0, rest.find_first_not_of("0123456789"));
}

void add_info(MessageWriter& hello, const WorkerInfo& info) {
  hello.field("name", info.name);
  if (info.rank.has_value()) hello.field("rank", uint64_t{*info.rank});
  hello.field("host", info.host).field("pid", info.pid);
  hello.field("data", info.data).field("threads", info.threads);
  hello.field("isa", info.isa).field("backend", info.backend);
}

Result<WorkerInfo> read_info(const Message& hello) {
  WorkerInfo info;
  const auto pid = number(hello, "pid");
  if (!pid.ok()) return pid.error();
  info.pid = pid.value();
  const auto threads = number(hello, "threads");
  if (threads.ok()) info.threads = threads.value();
  for (const Status& status :
       {read_name(hello, "name", info.name),
        read_name(hello, "host", info.host),
        read_name(hello, "data", info.data), read_name(hello, "isa", info.isa),
        read_name(hello, "backend", info.backend),
        read_rank(hello, info.rank)}) {
    if (!status.ok()) return status.error();
  }
  if (info.name.empty()) return Error{"hello: no name="};
  if (!info.data.empty()) {
    const Status status = check_connectable(info.data);
    if (!status.ok()) {
      return Error{"hello: data=" + excerpt(info.data) + ": " +
                   status.error().message};
    }
  }
  return info;
}

void append_entry(std::string& body, uint32_t worker, const WorkerInfo& info) {
  body += std::to_string(worker);
  for (const std::string& value : {info.name, info.host, info.data}) {
    body.append(" ").append(value_text(value));
  }
  body.append(" ").append(std::to_string(info.pid));
  if (!info.key.empty()) body.append(" ").append(info.key);
  body.append("\n");
}

Result<std::vector<RosterEntry>> parse_roster(std::string_view body) {
  std::vector<RosterEntry> roster;
  while (!body.empty()) {
    const std::string_view line = body.substr(0, body.find('\n'));
    const auto entry = parse_entry(line);
    if (!entry.ok()) return entry.error();
    roster.push_back(entry.value());
    body.remove_prefix(std::min(line.size() + 1, body.size()));
  }
  return roster;
}

}  // namespace gt::net
