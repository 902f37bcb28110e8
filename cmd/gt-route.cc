// gt-route: reads a stream, runs it on many workers, and writes its results.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "arguments.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/launched.h"
#include "base/text.h"
#include "file/files.h"
#include "links.h"
#include "program.h"
#include "route/local_workers.h"
#include "route/router.h"
#include "spmd/machine.h"
#include "stream/rows.h"

namespace {

constexpr const char* kFooter =
    R"(Reads FILE... in order ('-' or none: standard input), dispatches the lines to
workers and writes the results of their prints, in program order. Lines with
ranks go to the workers that play them; others are placed where they would be
done first, and values are copied where they are missing.
Exit status: 0 done; 1 an instruction failed; 2 usage or local I/O; 3 a line
was rejected; 4 a worker was lost or did not come, or the stream was cut short;
130 interrupted; the largest of these and of the stages before. See gt-route(1).

Environment: GT_BACKEND (--backend), GT_INSTRUCTION_LOG (--log),
GT_SILENCE (--silence), GT_VERBOSE (-v); with --bind, what torchrun or Slurm
say: WORLD_SIZE or SLURM_NTASKS (--workers).

Examples:
  gt-emit model.gt | gt-route -n 2
  gt-emit model.gt | gt-route --bind tcp://127.0.0.1:5560 --workers 2)";

constexpr uint32_t kMostWorkers = 65536;

struct Options {
  gt::route::RouterOptions router;
  uint32_t local = 1;
  bool is_one_a_device = false;  // -n gpus
  uint32_t workers = 0;
  std::string backend, pace, isa;
  size_t memory = 0;
  std::vector<std::string> roots;
  std::string log;
  std::string trace;
  bool trace_watched = false;
  int threads = 0;
  bool has_fast_sums = false;
  gt::ListenOptions listen{"--bind", "gt-route"};
  gt::ListenOptions monitor{"--monitor", "gt-route", "--monitor-"};
  bool keeps_going = false;
  bool no_hot = false;
};

void add_options(gt::Arguments& args, Options& options) {
  args.files("FILE", options.router.files, "streams, '-' for standard input");
  const auto read_n = [&options](const std::string& text) -> std::string {
    options.is_one_a_device = text == "gpus";
    if (options.is_one_a_device ||
        (gt::read_number(text, options.local) && options.local >= 1 &&
         options.local <= kMostWorkers)) {
      return "";
    }
    return "'" + text + "' is neither a number from 1 to " +
           std::to_string(kMostWorkers) + " nor gpus";
  };
  args.read(
          "-n", read_n,
          "start N workers on this host (1), or, if N is gpus, one for each of "
          "its GPUs")
      .type("N|gpus");
  args.text("--bind", options.listen.endpoint,
            "wait for workers at this endpoint instead, as "
            "tcp://127.0.0.1:5560 or ipc:///tmp/gt")
      .type("ENDPOINT");
  args.number<uint32_t>(
      "--workers", options.workers, 1, kMostWorkers,
      "how many workers to wait for (WORLD_SIZE or SLURM_NTASKS)");
  args.number<int>("--threads", options.threads, 1, 4096,
                   "threads of each started worker (OMP_NUM_THREADS, else its "
                   "share of the cores that gt-route is granted)");
  args.text("--backend", options.backend,
            "backend of started workers (with -n gpus: cuda)")
      .type("cpu|ref|null|cuda|FILE");
  args.text(
          "--pace", options.pace,
          "with --backend null: started workers take as long as machines with "
          "these figures would, see gt-work(1)")
      .type("FIGURE=NUMBER,...");
  args.text("--isa", options.isa, "instruction set of started workers")
      .type("sse2|avx2|avx512");
  args.size("--memory", options.memory, 1,
            "bytes that values may take in each started worker (its share "
            "of what a container allows, less a margin)");
  args.flag("--fast-sums", options.has_fast_sums,
            "NCCL adds up floats of several workers, in an order of its own: "
            "the bits change with the number of GPUs");
  args.list("--root", options.roots, "DIR",
            "started workers load and save below this directory only (DIR/*: "
            "within each directory in it); may be repeated (all that you "
            "may)");
  args.text("--log", options.log,
            "write what is dispatched to whom to FILE, see gt-log(5)")
      .type("FILE")
      .env("GT_INSTRUCTION_LOG");
  args.text("--trace", options.trace,
            "write what started workers ran and when to FILE, see "
            "gt-log(5)")
      .type("FILE");
  args.flag("--trace-watched", options.trace_watched,
            "with --trace: only while gt-top watches, so a trace can be begun "
            "and ended in a run that goes on");
  args.number<int>("--timeout", options.router.timeout, 1, 1'000'000,
                   "seconds until all workers must be there (60)")
      .type("SECONDS");
  args.seconds("--silence", options.router.silence, 1, 1e6,
               "seconds after which a worker that says nothing is lost, 1 "
               "or more (1.5)")
      .env("GT_SILENCE");
  args.flag("--keep-going", options.keeps_going,
            "a worker that is lost ends only what needs it, not the run");
  args.flag("--fail-fast", options.router.fail_fast,
            "read no more after the first failure");
  args.flag("--no-hot", options.no_hot,
            "send every line, also of blocks that were sent before");
  args.text("--key", options.listen.key,
            "with --bind: this gt-route's secret key, see gt-key(1); "
            "connections are then encrypted")
      .type("FILE");
  args.text("--allow", options.listen.allow,
            "with --key: public keys of the workers that may attach, one "
            "a line")
      .type("FILE");
  args.flag("--insecure", options.listen.insecure,
            "with --bind: let anyone who reaches the tcp endpoint attach "
            "as a worker");
  args.text("--monitor", options.monitor.endpoint,
            "where gt-top may watch (a private local socket, which it "
            "finds); none: nowhere")
      .type("ENDPOINT");
  args.text("--monitor-key", options.monitor.key,
            "with --monitor: this gt-route's secret key there")
      .type("FILE");
  args.text("--monitor-allow", options.monitor.allow,
            "with --monitor-key: public keys of those who may watch, one "
            "a line")
      .type("FILE");
  args.flag("-v", options.router.verbose,
            "say who attaches, and at the end what was done")
      .env("GT_VERBOSE");
}

int usage(const std::string& message) {
  return gt::usage_error("gt-route", message);
}

std::string wrong_combination(const gt::Arguments& args,
                              const Options& options) {
  const bool binds = args.has("--bind");
  if (binds && options.listen.endpoint.empty()) {
    return "--bind: '' is no endpoint; expected tcp://HOST:PORT, ipc://PATH or "
           "ipc://@NAME";
  }
  if (binds && args.has("-n")) {
    return "-n starts workers and --bind waits for others; give one of them";
  }
  if (!binds && args.has("--workers")) {
    return "--workers needs --bind, where they attach";
  }
  if (binds && (options.workers == 0 || options.workers > kMostWorkers)) {
    return "--bind needs --workers, how many to wait for";
  }
  for (const char* name : {"--threads", "--backend", "--pace", "--isa",
                           "--memory", "--fast-sums", "--root", "--trace"}) {
    if (binds && args.has(name)) {
      return std::string(name) +
             " is for workers that gt-route starts; give it to gt-work";
    }
  }
  if (options.trace_watched && options.trace.empty()) {
    return "--trace-watched is for --trace";
  }
  if (!binds && (args.has("--key") || args.has("--allow"))) {
    return "--key and --allow are for workers that attach: give --bind, too";
  }
  if (!binds && options.listen.insecure) {
    return "--insecure is for workers that attach: give --bind, too";
  }
  if (args.has("--pace")) {
    const auto machine = gt::parse_machine(options.pace);
    if (!machine.ok()) return "--pace: " + machine.error().message;
    const char* backend = std::getenv("GT_BACKEND");
    const bool is_null =
        args.has("--backend")
            ? options.backend == "null"
            : backend != nullptr && backend == std::string("null");
    if (!is_null) return "--pace is for --backend null";
  }
  return "";
}

// Checks what the workers that are started are to open. Returns what is wrong;
// "" if nothing is.
std::string check_roots(const Options& options) {
  const auto roots = gt::sort_roots(options.roots);
  if (!roots.ok()) return roots.error().message;
  if (roots.value().folders.empty()) return "";
  const auto made = gt::Files::make(roots.value().folders);
  return made.ok() ? "" : "--root: " + made.error().message;
}

// Sets where the run can be watched. Returns what is wrong; "" if nothing is.
std::string choose_monitor(const gt::Arguments& args, Options& options) {
  gt::ListenOptions& listen = options.monitor;
  const bool has_keys = !listen.key.empty() || !listen.allow.empty();
  if (!args.has("--monitor") || listen.endpoint == "none") {
    if (has_keys) {
      return "--monitor-key and --monitor-allow are for --monitor ENDPOINT";
    }
    options.router.monitor.is_on = !args.has("--monitor");
    return "";
  }
  std::string wrong = listen.read();
  options.router.monitor = {true, listen.endpoint, listen.keys, listen.admits};
  return wrong;
}

// Creates the file that the workers will append to. Returns what is wrong; ""
// if nothing is.
std::string begin_trace(const Options& options) {
  const auto fd = gt::create_side_file(options.trace, options.router.files);
  if (!fd.ok()) return fd.error().message;
  const int error =
      gt::write_all(fd.value(), std::string(gt::kTraceHeader) + "\n");
  ::close(fd.value());
  return error == 0 ? "" : options.trace + ": " + std::strerror(error);
}

// With -n gpus: sets the number of workers and their backend. Returns 0, or the
// status to exit with after gt-work has said why.
int count_devices(Options& options) {
  if (options.backend.empty()) {
    const char* backend = std::getenv("GT_BACKEND");
    options.backend = backend == nullptr ? "cuda" : backend;
  }
  const auto count = gt::route::count_devices(options.backend);
  if (!count.ok()) return usage("-n gpus: " + count.error().message);
  if (count.value() == 0) return static_cast<int>(gt::Exit::kUsage);
  options.local = std::min(count.value(), kMostWorkers);
  return 0;
}

// Returns the arguments for the workers that are started.
std::vector<std::string> worker_arguments(const gt::Arguments& args,
                                          const Options& options) {
  std::vector<std::string> out;
  const auto pass = [&](const char* name, const std::string& value) {
    if (!args.has(name)) return;
    out.emplace_back(name);
    out.push_back(value);
  };
  if (args.has("--backend") || options.is_one_a_device) {
    out.insert(out.end(), {"--backend", options.backend});
  }
  pass("--threads", std::to_string(options.threads));
  pass("--pace", options.pace);
  pass("--isa", options.isa);
  pass("--memory", std::to_string(options.memory));
  if (options.has_fast_sums) out.emplace_back("--fast-sums");
  if (!options.trace.empty()) {
    pass("--trace", options.trace);
    out.insert(out.end(), {"--trace-since", std::to_string(gt::steady_ns())});
    if (options.trace_watched) out.emplace_back("--trace-watched");
  }
  pass("--silence",
       std::to_string(static_cast<double>(options.router.silence) / 1000));
  for (const std::string& root : options.roots) pass("--root", root);
  // A worker that connects by itself opens only what --root names; those that
  // gt-route starts may open whatever their user may.
  if (options.roots.empty()) {
    out.emplace_back("--root");
    out.emplace_back("/");
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const gt::ProcessGuard guard;
  gt::Arguments args("gt-route", "Dispatch a stream to workers.", kFooter);
  Options options;
  add_options(args, options);
  int status = 0;
  if (!args.parse(argc, argv, status)) return status;
  if (!args.has("--workers")) {
    (void)gt::read_number(gt::launched::processes(), options.workers);
  }
  std::string wrong = wrong_combination(args, options);
  const bool binds = args.has("--bind");
  if (wrong.empty() && binds) wrong = options.listen.read();
  if (wrong.empty()) wrong = check_roots(options);
  if (wrong.empty()) wrong = choose_monitor(args, options);
  if (!wrong.empty()) return usage(wrong);
  if (options.is_one_a_device) {
    if (const int bad = count_devices(options); bad != 0) return bad;
  }
  options.router.bind = options.listen.endpoint;
  options.router.trust = options.listen.trust();
  options.router.admits = options.listen.admits;
  if (options.keeps_going) options.router.on_loss = gt::route::OnLoss::kGoOn;
  options.router.hot = !options.no_hot;
  options.router.tell = gt::tell;
  options.router.workers = binds ? options.workers : options.local;
  if (args.has("--trace")) {
    const std::string bad = begin_trace(options);
    if (!bad.empty()) return usage("--trace: " + bad);
  }
  if (!binds) {
    options.router.worker_arguments = worker_arguments(args, options);
    options.router.traces = !options.trace.empty();
  }
  if (!options.log.empty()) {
    if (!options.trace.empty() && gt::is_read(options.log, {options.trace})) {
      return usage("--log: " + options.log + " is what --trace writes");
    }
    const auto fd = gt::create_side_file(options.log, options.router.files);
    if (!fd.ok()) return usage("--log: " + fd.error().message);
    options.router.log_fd = fd.value();
    options.router.log_name = options.log;
  }
  gt::talk_aside();
  return static_cast<int>(gt::route::run_router(options.router, gt::say));
}
