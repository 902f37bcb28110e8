// gt-top: shows the present state of a gt-route, its workers and clients.
#include <unistd.h>

#include <algorithm>
#include <string>

#include "arguments.h"
#include "base/colors.h"
#include "base/text.h"
#include "links.h"
#include "net/monitors.h"
#include "program.h"
#include "top/metrics_server.h"
#include "top/top.h"

namespace {

constexpr const char* kFooter =
    R"(Watches a gt-route: what its workers do, how much waits for them, which ops
take the time, and who waits for whom. WHICH is the process number of a gt-route
of yours on this host, or the endpoint that its --monitor names; without it, it
is your only gt-route here, or they are listed. On a terminal keys are: q quits,
? tells the others.
Exit status: 0 the run ended, or it was told to quit; 2 usage or local I/O, or
there are several gt-routes to choose from; 4 there is no gt-route, or it is
gone; 130 interrupted. See gt-top(1).

Environment: GT_KEY (--key), GT_ROUTE_KEY (--route-key), NO_COLOR.

Examples:
  gt-top
  gt-top -b -n 1 | awk -F '\t' '$2 == "worker" { print $3, $6 }'
  gt-top --metrics :9100)";

struct Options {
  std::string which;
  bool batch = false;
  gt::top::TopOptions top;
  gt::ConnectOptions connect{"WHICH", "--route-key", "gt-route", "gt-top"};
};

void add_options(gt::Arguments& args, Options& options) {
  args.text("WHICH", options.which, "a process number or an endpoint");
  args.flag("-b", options.batch,
            "write what there is to see, tab-separated with a header");
  args.number<uint64_t>("-n", options.top.count, 1, 1'000'000'000,
                        "with -b: so many times (until the run ends)");
  args.number<double>("-d", options.top.seconds, 0.1, 86400,
                      "seconds between two times (1)")
      .type("SECONDS");
  args.text("--metrics", options.top.metrics,
            "serve what Prometheus reads at ADDRESS, as :9100, or write "
            "it to a file again and again")
      .type("ADDRESS|FILE");
  args.text("--key", options.connect.key,
            "the secret key of this gt-top, see gt-key(1)")
      .type("FILE")
      .env("GT_KEY");
  args.text("--route-key", options.connect.open_key,
            "with --key: gt-route's public key")
      .type("FILE")
      .env("GT_ROUTE_KEY");
  args.flag("--insecure", options.connect.insecure,
            "with --metrics: let anyone who reaches ADDRESS read it; else: "
            "watch whoever is at the endpoint WHICH");
}

int usage(const std::string& message) {
  return gt::usage_error("gt-top", message);
}

// Returns what is wrong with the options; "" if nothing is.
std::string wrong_options(const gt::Arguments& args, const Options& options) {
  const bool serves = args.has("--metrics");
  const std::string& metrics = options.top.metrics;
  if (serves && options.batch) return "-b and --metrics are two jobs";
  if (args.has("-n") && !options.batch) return "-n is for -b";
  if (serves && metrics.empty()) {
    return "--metrics: '' is no address such as :9100, and no file";
  }
  if (serves && gt::top::is_metrics_address(metrics)) {
    const auto local = gt::top::is_loopback_address(metrics);
    if (!local.ok()) return "--metrics: " + local.error().message;
    if (!local.value() && !options.connect.insecure) {
      return "--metrics " + metrics +
             ": anyone who reaches it could read it; serve at :PORT, or say "
             "--insecure";
    }
  }
  if (!serves && !options.batch &&
      (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0)) {
    return "standard input and output are no terminal; use -b";
  }
  return "";
}

// Finds the endpoint of a gt-route of this user. Returns 0, or the status to
// exit with.
int find_route(const Options& options, std::string& endpoint) {
  std::vector<gt::net::MonitorAt> all = gt::net::find_monitors();
  const std::string& which = options.which;
  if (!which.empty()) {
    uint64_t pid = 0;
    if (!gt::read_number(which, pid)) {
      return usage("'" + which +
                   "' is no process number, and no endpoint such as "
                   "tcp://127.0.0.1:5561");
    }
    std::erase_if(all, [pid](const auto& one) { return one.pid != pid; });
  }
  // Endpoints of other users may claim to be ours.
  gt::top::Listing listing;
  if (all.size() > 1) {
    listing = gt::top::list_routes(all);
    all = listing.routes;
  }
  if (all.size() == 1) {
    endpoint = all[0].endpoint;
    return 0;
  }
  if (all.empty()) {
    gt::say(which.empty()
                ? "gt-top: no gt-route of this user runs on this host; of "
                  "another host, name the endpoint of its --monitor\n"
                : "gt-top: no gt-route of this user with process number " +
                      which + " runs on this host\n");
    return static_cast<int>(gt::Exit::kLost);
  }
  gt::Writer out(STDOUT_FILENO);
  out.write(listing.table);
  gt::say("gt-top: " + std::to_string(all.size()) +
          " gt-routes run; say which, as: gt-top " +
          std::to_string(all[0].pid) + "\n");
  return gt::finish("gt-top", out, gt::Exit::kUsage);
}

}  // namespace

int main(int argc, char** argv) {
  const gt::ProcessGuard guard;
  gt::Arguments args("gt-top", "Watch a gt-route and its workers.", kFooter);
  Options options;
  add_options(args, options);
  int status = 0;
  if (!args.parse(argc, argv, status)) return status;
  const std::string wrong = wrong_options(args, options);
  if (!wrong.empty()) return usage(wrong);
  gt::top::TopOptions& top = options.top;
  if (options.which.find("://") == std::string::npos) {
    status = find_route(options, top.watcher.endpoint);
    if (status != 0 || top.watcher.endpoint.empty()) return status;
  } else {
    options.connect.endpoint = options.which;
    const std::string bad = options.connect.read();
    if (!bad.empty()) return usage(bad);
    top.watcher.endpoint = options.connect.endpoint;
    top.watcher.trust = options.connect.trust();
  }
  top.has_color = gt::takes_color(STDOUT_FILENO);
  top.say = gt::say;
  top.tell = gt::tell;
  if (!top.metrics.empty()) {
    return static_cast<int>(gt::top::run_metrics(top));
  }
  if (!options.batch) return static_cast<int>(gt::top::run_screen(top));
  gt::Writer out(STDOUT_FILENO);
  const gt::Exit done = gt::top::run_batch(top, out);
  return gt::finish("gt-top", out, done);
}
