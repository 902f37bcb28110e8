#include "net/member.h"

#include <algorithm>
#include <utility>

namespace gt::net {
namespace {

LinkOptions link_options(const MemberOptions& options) {
  LinkOptions link;
  link.trust = options.trust;
  link.max_message = kMaxMessage;
  link.send_queue = 64;
  return link;
}

Status check(const WorkerInfo& info) {
  for (const std::string& text :
       {info.name, info.host, info.data, info.isa, info.backend}) {
    if (text.size() <= kMaxName) continue;
    return Error{"'" + text + "' has more than " + std::to_string(kMaxName) +
                 " bytes"};
  }
  if (info.name.empty()) return Error{"a worker needs a name"};
  return ok_status();
}

}  // namespace

Member::Member(Context& context, const MemberOptions& options)
    : state_(options, now_ms()),
      caller_(context, link_options(options), state_) {}

Result<std::unique_ptr<Member>> Member::make(Context& context,
                                             const std::string& endpoint,
                                             MemberOptions options) {
  Status status = check(options.info);
  if (!status.ok()) return status.error();
  options.host = endpoint;
  std::unique_ptr<Member> member(new Member(context, std::move(options)));
  status = member->caller_.connect(endpoint);
  if (!status.ok()) return status.error();
  return member;
}

void Member::bye(Exit status, std::string_view why) {
  state_.bye(status, why);
  caller_.flush();
}

void Member::await_answer(int64_t milliseconds) {
  const int64_t until = now_ms() + milliseconds;
  Poller poller;
  MemberEvent event;
  for (int64_t now = now_ms(); now < until; now = now_ms()) {
    while (next(event)) continue;
    if (state_.is_over()) return;
    poller.clear();
    add_to(poller);
    poller.wait(std::min(wait_ms(), until - now));
    step();
  }
}

void Member::give_back(size_t bytes) {
  state_.give_back(bytes);
  caller_.flush();
}

void Member::done(uint64_t seq, uint64_t wait_ms, std::string_view waits_for,
                  uint64_t waits_at) {
  state_.done(seq, wait_ms, waits_for, waits_at);
  caller_.flush();
}

void Member::ran(std::string_view body) {
  state_.ran(body);
  caller_.flush();
}

void Member::used(std::string_view body) {
  state_.used(body);
  caller_.flush();
}

void Member::send(Frame frame) {
  state_.send(std::move(frame));
  caller_.flush();
}

}  // namespace gt::net
