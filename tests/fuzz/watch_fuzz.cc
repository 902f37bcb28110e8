// Strangers send any messages to the monitor of gt-route, with any state of a
// worker. A stranger that breaks the protocol is forgotten, and another watcher
// is not.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "net/used.h"
#include "net/watchers.h"
#include "route/client_records.h"
#include "target.h"

namespace {

gt::net::Frame frame(std::string_view text) {
  return gt::net::Frame(std::string(text));
}

void check_used(std::string_view bytes) {
  const auto used = gt::net::parse_used(bytes);
  if (!used.ok()) return;
  std::string text;
  gt::net::append_used(text, used.value());
  const auto again = gt::net::parse_used(text);
  std::string same;
  if (again.ok()) gt::net::append_used(same, again.value());
  if (same != text && text.size() <= gt::net::kMaxUsed) std::abort();
}

}  // namespace

GT_FUZZ_TARGET(watch) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  gt::net::Watchers watchers;
  watchers.receive("good", frame("watch version=6 size=0\n"), 0, "");
  watchers.receive("bad", frame(bytes), 0, "");
  watchers.receive("bad", frame(bytes), 0, "");
  if (!watchers.knows("good") || !watchers.is_asked()) std::abort();
  watchers.tell("route pid=1\n");
  if (watchers.is_asked()) std::abort();
  gt::net::ListenerState::Outgoing out;
  bool is_told = false;
  while (watchers.next(out)) is_told = is_told || out.peer == "good";
  if (!is_told) std::abort();
  check_used(bytes);
  gt::route::ClientRecords records;
  records.take(bytes);
  return 0;
}
