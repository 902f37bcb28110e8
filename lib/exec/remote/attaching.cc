#include "exec/remote/attaching.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "ops/table.h"

namespace gt::exec {
namespace {

// The last SIGTERM or SIGINT, and the thread to wake for it.
std::atomic<int> g_signal{0};
std::atomic<net::Wake*> g_wake{nullptr};

void on_signal(int signal) {
  g_signal.store(signal);
  if (net::Wake* wake = g_wake.load()) wake->signal();
}

}  // namespace

SignalGuard::SignalGuard(net::Wake& wake, bool is_local) {
  g_wake.store(&wake);
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGTERM, &action, nullptr);
  // A terminal's SIGINT also reaches the parent of a local worker, which
  // decides.
  if (is_local) action.sa_handler = SIG_IGN;
  sigaction(SIGINT, &action, nullptr);
}

SignalGuard::~SignalGuard() { g_wake.store(nullptr); }

bool SignalGuard::is_told() { return g_signal.load() != 0; }

net::MemberOptions member_options(const RemoteOptions& options) {
  char host[256] = "";
  (void)::gethostname(host, sizeof host - 1);
  net::MemberOptions member;
  member.info.name = options.name.empty()
                         ? host + ("." + std::to_string(::getpid()))
                         : options.name;
  member.info.rank = options.rank;
  member.info.host = host;
  member.info.pid = static_cast<uint64_t>(::getpid());
  member.info.threads = static_cast<uint64_t>(options.threads);
  member.info.isa = options.isa.empty() ? "best" : options.isa;
  member.info.backend = options.backend;
  member.table = std::to_string(table_digest());
  member.token = options.token;
  member.host = options.endpoint;
  member.trust = options.trust;
  member.connect_limit = options.patience.count();
  member.timing = net::Timing::with_silence(options.silence);
  return member;
}

void each_results_message(
    std::string_view results,
    const std::function<void(std::string message, size_t bytes)>& send) {
  while (!results.empty()) {
    const std::string_view part = results.substr(0, net::kMaxBody);
    results.remove_prefix(part.size());
    send(net::MessageWriter(net::Verb::kResults).finish(part), part.size());
  }
}

}  // namespace gt::exec
