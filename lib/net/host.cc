#include "net/host.h"

#include <utility>

namespace gt::net {
namespace {

// The queue of an attached worker has room for everything that its credit
// allows, and for beats. Refusals to a stranger may fill the stranger's queue,
// and are then dropped.
LinkOptions link_options(const HostOptions& options, Trust trust) {
  LinkOptions link;
  link.trust = std::move(trust);
  link.max_message = kMaxMessage;
  link.send_queue = static_cast<int>(HostState::kMaxOnWay) + 1024;
  link.handshake_ms = static_cast<int>(options.timing.handshake);
  return link;
}

}  // namespace

Host::Host(Context& context, HostOptions options, Trust trust,
           Gatekeeper::Admits admits)
    : state_(options, now_ms()),
      listener_(context, link_options(options, std::move(trust)),
                std::move(admits), state_) {}

Result<std::unique_ptr<Host>> Host::make(Context& context,
                                         const std::string& endpoint,
                                         HostOptions options, Trust trust,
                                         Gatekeeper::Admits admits) {
  std::unique_ptr<Host> host(new Host(context, std::move(options),
                                      std::move(trust), std::move(admits)));
  const Status bound = host->listener_.bind(endpoint);
  if (!bound.ok()) return bound.error();
  return host;
}

void Host::send(uint32_t worker, const Frame& frame) {
  state_.send(worker, frame);
  listener_.flush();
}

void Host::beat() {
  state_.tick(now_ms(), false);
  listener_.flush();
}

void Host::abort(std::string_view why) {
  state_.abort(why);
  listener_.flush();
}

void Host::drop(uint32_t worker, std::string_view why) {
  state_.drop(worker, why);
  listener_.flush();
}

}  // namespace gt::net
