#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/printable.h"
#include "net/poller.h"
#include "top/snapshot.h"
#include "top/top.h"

namespace gt::top {
namespace {

constexpr int64_t kPatience = 2000;  // milliseconds

struct Asked {
  net::MonitorAt at;
  std::unique_ptr<net::Watcher> watcher;
  std::optional<Snapshot> answer;
  bool is_over = false;
};

void take_answers(Asked& one) {
  one.watcher->step();
  net::WatchEvent event;
  while (!one.is_over && one.watcher->next(event)) {
    one.is_over = true;
    if (event.kind != net::WatchEvent::Kind::kState) continue;
    auto read = read_snapshot(event.text);
    if (read.ok()) one.answer = std::move(read.value());
  }
}

std::string age_text(uint64_t ms) {
  const uint64_t s = ms / 1000;
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

}  // namespace

Listing list_routes(const std::vector<net::MonitorAt>& routes) {
  net::Context context;
  std::vector<Asked> asked;
  for (const net::MonitorAt& at : routes) {
    net::WatcherOptions options;
    options.endpoint = at.endpoint;
    options.connect_limit = kPatience;
    auto made = net::Watcher::make(context, options);
    if (made.ok()) asked.push_back({at, std::move(made.value()), {}, false});
  }
  net::Poller poller;
  const int64_t until = net::now_ms() + kPatience;
  while (net::now_ms() < until &&
         !std::ranges::all_of(asked, &Asked::is_over)) {
    poller.clear();
    int64_t limit = until - net::now_ms();
    for (const Asked& one : asked) {
      if (one.is_over) continue;
      one.watcher->add_to(poller);
      limit = std::min(limit, one.watcher->wait_ms());
    }
    poller.wait(std::max<int64_t>(0, limit));
    for (Asked& one : asked) {
      if (!one.is_over) take_answers(one);
    }
  }
  Listing out;
  out.table = "pid\tage\tworkers\tfile\n";
  for (const Asked& one : asked) {
    if (!one.answer) continue;
    const RouteNow& route = one.answer->route;
    out.routes.push_back(one.at);
    out.table +=
        fmt::format("{}\t{}\t{}\t{}\n", one.at.pid, age_text(route.uptime_ms),
                    route.workers, printable(route.file));
  }
  return out;
}

}  // namespace gt::top
