// gt-work: reads a stream, runs it, and writes its results.
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "arguments.h"
#include "base/granted.h"
#include "base/launched.h"
#include "base/text.h"
#include "exec/backend/registry.h"
#include "exec/remote/remote_session.h"
#include "exec/storage/borrowed_files.h"
#include "exec/worker/session.h"
#include "interrupt.h"
#include "links.h"
#include "program.h"
#include "spmd/machine.h"

namespace {

constexpr const char* kFooter =
    R"(Runs FILE... in order ('-' or none: standard input) and writes the results
of its prints, in program order.
Exit status: 0 done; 1 an instruction failed; 2 usage or local I/O; 3 a line
was rejected; 4 the stream was cut short, the GPU failed, or with --connect gt-route
or a peer was lost; the largest of these and of the stages before. See gt-work(1), gt-stream(5), gt-ops(7).

Environment: GT_BACKEND (--backend), GT_NO_GRAPHS (--no-graphs), GT_NO_FUSE
(--no-fuse), GT_VERBOSE (-v), OMP_NUM_THREADS (--threads); with --connect, GT_SILENCE (--silence),
GT_KEY (--key), GT_ROUTE_KEY (--route-key) and what torchrun or Slurm say: RANK
or SLURM_PROCID (--rank), LOCAL_RANK or SLURM_LOCALID (--name, and with cuda
--device), LOCAL_WORLD_SIZE or SLURM_TASKS_PER_NODE (--threads, --memory). For
cuda also GT_CUDA_PATH and CUDA_HOME, see gt-cuda(7).

Examples:
  gt-emit model.gt | gt-work
  gt-emit model.gt | gt-work --backend ref --root data --memory 2G
  printf 'x = tensor f32[2] 1 2\nprint x\n' | gt-work
  gt-work --connect tcp://127.0.0.1:5560 --root /data)";

constexpr int kMostThreads = 4096;

struct Options {
  std::vector<std::string> files{"-"};
  std::string backend = "cpu";
  std::optional<unsigned> device;
  std::optional<gt::Machine> pace;
  bool lists_devices = false;
  bool prints_granted = false;
  std::string isa;
  std::vector<std::string> roots;
  std::string trace;
  std::optional<uint64_t> trace_since;
  bool trace_watched = false;
  int threads = 0;
  bool no_cache = false;
  bool no_graphs = false;
  bool no_fuse = false;
  int verbose = 0;
  std::string name;
  uint32_t rank = 0;
  bool has_rank = false;
  gt::ConnectOptions link{"--connect", "--route-key", "gt-route", "gt-work"};
  std::string files_key;
  int64_t timeout = 60'000;  // milliseconds
  int64_t silence = 1500;    // milliseconds
  bool has_fast_sums = false;
  gt::exec::WorkerOptions worker;
};

// The options of what computes, from what, and where to.
void add_computing(gt::Arguments& args, Options& options) {
  args.files("FILE", options.files, "streams, '-' for standard input");
  args.text("--backend", options.backend,
            "cpu; ref, the meaning of each op in plain loops; null, "
            "shapes and costs alone (prints give zeros); cuda, a GPU, "
            "where it was built; or a plug-in, by its path or name")
      .type("cpu|ref|null|cuda|FILE")
      .env("GT_BACKEND");
  const auto read_device = [&options](const std::string& text) -> std::string {
    unsigned number = 0;
    if (!gt::read_number(text, number)) {
      return "'" + text + "' is not a number from 0 on";
    }
    options.device = number;
    return "";
  };
  args.read(
          "--device", read_device,
          "which of the backend's devices, as the number of a GPU, from 0 "
          "(cuda: that which LOCAL_RANK or SLURM_LOCALID says, else the first)")
      .type("N");
  const auto read_pace = [&options](const std::string& text) -> std::string {
    const auto machine = gt::parse_machine(text);
    if (!machine.ok()) return machine.error().message;
    options.pace = machine.value();
    return "";
  };
  args.read("--pace", read_pace,
            "with --backend null: take as long as a machine with these figures "
            "would, asleep, as flops=1e12,memory_bandwidth=1e11,bandwidth=1e10,"
            "latency=1e-5")
      .type("FIGURE=NUMBER,...");
  args.flag("--list-devices", options.lists_devices,
            "print the names of the backend's devices, one a line, and end");
  args.flag("--granted", options.prints_granted,
            "print how many cores and bytes of memory this process is granted, "
            "and end");
  args.number<int>("--threads", options.threads, 1, kMostThreads,
                   "threads that compute (OMP_NUM_THREADS, else the cores that "
                   "this process is granted)");
  args.text("--isa", options.isa, "instruction set (the best there is)")
      .type("sse2|avx2|avx512");
  args.size("--memory", options.worker.memory, 1,
            "bytes that values may take, as 512M or 2G (what a container "
            "allows, less a margin)");
  args.list("--root", options.roots, "DIR",
            "load and save below this directory only (DIR/*: within each "
            "directory in it), or at the gt-emit that lends files at "
            "tcp://HOST:PORT; may be repeated");
  args.text("--trace", options.trace,
            "write what ran and when to FILE, see gt-log(5)")
      .type("FILE");
  const auto read_since = [&options](const std::string& text) -> std::string {
    uint64_t since = 0;
    if (!gt::read_number(text, since)) return "'" + text + "' is not a number";
    options.trace_since = since;
    return "";
  };
  args.read("--trace-since", read_since,
            "with --connect, --rank and --trace: append to FILE, which "
            "other workers of this host write too, with times since then, "
            "in nanoseconds of the steady clock")
      .type("TIME");
  args.flag("--trace-watched", options.trace_watched,
            "with --connect and --trace: only while gt-top watches the run");
}

// The options of a worker of a gt-route.
void add_connecting(gt::Arguments& args, Options& options) {
  args.text("--connect", options.link.endpoint,
            "work for the gt-route at ENDPOINT, as tcp://host:5550")
      .type("ENDPOINT");
  args.number<uint32_t>("--rank", options.rank, 0, UINT32_MAX,
                        "with --connect: the number among the workers (RANK "
                        "or SLURM_PROCID, else "
                        "as gt-route gives it)");
  args.text("--name", options.name,
            "with --connect: what messages call it (the host's name and the "
            "process)");
  args.text("--key", options.link.key,
            "with --connect: this worker's secret key, see gt-key(1); "
            "connections are then encrypted")
      .type("FILE")
      .env("GT_KEY");
  args.text("--route-key", options.link.open_key,
            "with --key: the public key of gt-route, or a file that has "
            "it")
      .type("KEY")
      .env("GT_ROUTE_KEY");
  args.text("--files-key", options.files_key,
            "with --key: the public key of the gt-emit that lends files, "
            "or a file that has it (that of --route-key)")
      .type("KEY");
  args.flag("--insecure", options.link.insecure,
            "with --connect: without keys, believe whoever listens there");
  args.seconds("--timeout", options.timeout, 0.1, 1e6,
               "with --connect: seconds without a sign from gt-route or a "
               "peer (60)");
  args.seconds("--silence", options.silence, 1, 1e6,
               "with --connect: seconds after which a gt-route that says "
               "nothing is lost, 1 or more (1.5)")
      .env("GT_SILENCE");
  args.flag(
      "--fast-sums", options.has_fast_sums,
      "with --connect: NCCL adds up floats of several workers, in an order "
      "of its own: the bits change with the number of GPUs");
}

// The options of how lines are run.
void add_running(gt::Arguments& args, Options& options) {
  args.flag("--fail-fast", options.worker.fail_fast,
            "stop at the first failure");
  args.flag("--sync", options.worker.sync,
            "wait for the GPU after each line, to learn which one fails");
  args.flag("--no-graphs", options.no_graphs,
            "give a GPU each line by itself (blocks of lines that come "
            "again as one CUDA graph)")
      .env("GT_NO_GRAPHS");
  args.flag("--no-fuse", options.no_fuse,
            "compute each point-wise line by itself (lines that follow each "
            "other in one pass over memory)")
      .env("GT_NO_FUSE");
  args.flag("--no-cache", options.no_cache, "decode every line anew");
  args.flag("-v", options.verbose, "say at the end what was done")
      .env("GT_VERBOSE");
}

void say_stats(const gt::exec::WorkerStats& stats) {
  const std::string graphs =
      stats.recorded == 0
          ? ""
          : ", " + std::to_string(stats.recorded) + " graphs recorded, " +
                std::to_string(stats.replayed) + " launched";
  const std::string fused =
      stats.fused == 0 ? "" : " (" + std::to_string(stats.fused) + " fused)";
  gt::tell("gt-work: " + std::to_string(stats.lines) + " lines, " +
           std::to_string(stats.decoded) + " decoded, " +
           std::to_string(stats.tasks) + " tasks" + fused + ", " +
           std::to_string(static_cast<uint64_t>(stats.flops)) + " flops, " +
           std::to_string(stats.peak_bytes) + " bytes at most" + graphs + "\n");
}

int usage(const std::string& message) {
  return gt::usage_error("gt-work", message);
}

// Limits how long idle helper threads spin before they sleep. By default those
// of libgomp do so for milliseconds, in which they take the core from the
// thread that has the work if other programs run too: two threads were ten
// times slower than one. A count of 1000, some 30 us, costs nothing measurable
// on idle cores; smaller counts do. libgomp reads the setting before main, so
// the program executes itself once more; the system then calls it by the path's
// last word, "exe".
void limit_spinning(char** argv) {
  ::prctl(PR_SET_NAME, program_invocation_short_name);
  if (std::getenv("OMP_WAIT_POLICY") != nullptr ||
      std::getenv("GOMP_SPINCOUNT") != nullptr ||
      ::setenv("GOMP_SPINCOUNT", "1000", 0) != 0) {
    return;
  }
  // If this fails, the program goes on without the limit.
  ::execv("/proc/self/exe", argv);
}

// Opens the trace. Returns 0, or the status to exit with.
int open_trace(Options& options, std::unique_ptr<gt::exec::Trace>& trace) {
  const std::string wrong = gt::wrong_side_file(options.trace, options.files);
  if (!wrong.empty()) return usage("--trace: " + wrong);
  auto opened = options.trace_since
                    ? gt::exec::Trace::join(options.trace, options.rank,
                                            *options.trace_since)
                    : gt::exec::Trace::open(options.trace);
  if (!opened.ok()) return usage("--trace: " + opened.error().message);
  trace = std::move(opened.value());
  if (options.trace_watched) trace->write_if_watched();
  options.worker.trace = trace.get();
  return 0;
}

gt::Exit finish_trace(const Options& options, gt::exec::Trace* trace,
                      gt::Exit status) {
  const int error = trace == nullptr ? 0 : trace->finish();
  if (error == 0) return status;
  gt::say("gt-work: --trace: " + options.trace + ": " + std::strerror(error) +
          "\n");
  return gt::worst(status, gt::Exit::kUsage);
}

// Sets the worker's number among all that a launcher has started, if --rank
// does not say it.
bool wanted_rank(const Options& options, std::optional<uint32_t>& rank) {
  if (options.has_rank) {
    rank = options.rank;
    return true;
  }
  const std::string text = gt::launched::rank();
  if (text.empty()) return true;
  uint32_t n = 0;
  if (!gt::read_number(text, n)) return false;
  rank = n;
  return true;
}

// Returns the host's name and the number of the worker on it, if a launcher has
// set that; else "", which stands for the host and the process.
std::string worker_name(const Options& options) {
  const std::string local = gt::launched::local_rank();
  if (!options.name.empty() || local.empty()) return options.name;
  char host[256] = "";
  (void)::gethostname(host, sizeof host - 1);
  return std::string(host) + "/" + local;
}

// Returns how many workers share what this process is granted.
unsigned sharers(const Options& options) {
  unsigned processes = 0;
  if (options.link.endpoint.empty() ||
      !gt::read_number(gt::launched::local_processes(), processes)) {
    return 1;
  }
  return std::max(1U, processes);
}

// Returns what OMP_NUM_THREADS says, as "4" or, for threads within threads,
// "4,2"; else this process's share of the cores that it is granted.
int default_threads(const Options& options) {
  if (const char* text = std::getenv("OMP_NUM_THREADS")) {
    std::string_view said = text;
    int threads = 0;
    if (gt::read_number(gt::take_word(said, " \t,"), threads) && threads >= 1 &&
        threads <= kMostThreads) {
      return threads;
    }
  }
  const unsigned cores = gt::granted_cores();
  const unsigned share = gt::launched::is_bound_alone() ? 1 : sharers(options);
  return static_cast<int>(std::max(1U, cores / share));
}

// Reads the endpoint and the keys for connecting. Returns what is wrong; "" if
// nothing is.
std::string read_link(Options& options, gt::exec::RemoteOptions& remote) {
  std::string wrong = options.link.read();
  remote.endpoint = options.link.endpoint;
  remote.trust = options.link.trust();
  return wrong;
}

// Sets which files load and save may open: those that --root names or, without
// it, all or none. Returns what is wrong; "" if nothing is.
std::string read_files(Options& options, bool opens_all, gt::Files& files) {
  gt::exec::BorrowedFilesOptions borrowed;
  borrowed.trust.anyone = options.link.insecure;
  borrowed.silence = options.silence;
  auto roots = gt::sort_roots(options.roots);
  if (!roots.ok()) return roots.error().message;
  auto& [folders, endpoints] = roots.value();
  const std::string& open_key =
      options.files_key.empty() ? options.link.open_key : options.files_key;
  const bool borrows = !endpoints.empty() || !options.files_key.empty();
  if (borrows && !options.link.key.empty()) {
    auto secret = gt::net::read_secret(options.link.key);
    if (!secret.ok()) return "--key: " + secret.error().message;
    auto other = gt::net::read_open_key(open_key);
    if (!other.ok()) return "--files-key: " + other.error().message;
    borrowed.trust.keys = std::move(secret.value());
    borrowed.trust.other_key = std::move(other.value());
  }
  opens_all = opens_all && options.roots.empty();
  if (opens_all || !folders.empty()) {
    auto made = gt::Files::make(folders);
    if (!made.ok()) return "--root: " + made.error().message;
    files = std::move(made.value());
  }
  if (!opens_all) borrowed.endpoints = std::move(endpoints);
  files.set_remote(
      std::make_shared<gt::exec::BorrowedFiles>(std::move(borrowed)));
  return "";
}

// Prints what the machine grants this process, for who decides how many workers
// to start.
int print_granted() {
  const size_t memory = gt::group_limits().memory;
  gt::Writer writer(STDOUT_FILENO);
  writer.write("cores " + std::to_string(gt::granted_cores()) + "\nmemory " +
               (memory == 0 ? "unlimited" : std::to_string(memory)) + "\n");
  return gt::finish("gt-work", writer, gt::Exit::kDone);
}

int list_devices(const std::string& backend) {
  const auto devices = gt::exec::backend_devices(backend);
  if (!devices.ok()) {
    gt::say("gt-work: " + devices.error().message + "\n");
    return static_cast<int>(gt::Exit::kUsage);
  }
  gt::Writer writer(STDOUT_FILENO);
  for (const std::string& name : devices.value()) writer.write(name + "\n");
  return gt::finish("gt-work", writer, gt::Exit::kDone);
}

// Returns why these options do not go together; "" if they do.
std::string wrong_combination(const gt::Arguments& args,
                              const Options& options) {
  const bool is_remote = args.has("--connect");
  for (const char* name : {"FILE", "--device", "--connect"}) {
    if (options.lists_devices && args.has(name)) {
      return "--list-devices lists and ends; it takes no " + std::string(name);
    }
  }
  if (options.pace && options.backend != "null") {
    return "--pace is for --backend null";
  }
  if (options.trace_since &&
      (!is_remote || !options.has_rank || options.trace.empty())) {
    return "--trace-since is for --connect, --rank and --trace";
  }
  if (options.trace_watched && (!is_remote || options.trace.empty())) {
    return "--trace-watched is for --connect and --trace";
  }
  for (const char* name : {"--rank", "--name", "--timeout", "--fast-sums"}) {
    if (!is_remote && args.has(name)) {
      return std::string(name) + " is for --connect";
    }
  }
  if (is_remote && args.has("FILE")) {
    return "with --connect lines come from gt-route, and not from " +
           options.files[0];
  }
  return "";
}

// Works for a gt-route. A local worker is admitted by the token that its parent
// gave it.
int work_remotely(Options& options) {
  gt::exec::RemoteOptions remote;
  remote.name = worker_name(options);
  if (!wanted_rank(options, remote.rank)) {
    return usage("RANK, SLURM_PROCID: '" + gt::launched::rank() +
                 "' is no number from 0 on");
  }
  if (const char* token = std::getenv("GT_TOKEN")) remote.token = token;
  // A local worker needs no keys, whatever the environment has.
  if (!remote.token.empty()) {
    options.link.key.clear();
    options.link.open_key.clear();
  }
  const std::string wrong = read_link(options, remote);
  if (!wrong.empty()) return usage(wrong);
  remote.patience = std::chrono::milliseconds(options.timeout);
  remote.silence = options.silence;
  remote.has_fast_sums = options.has_fast_sums;
  remote.threads = options.threads;
  remote.isa = options.isa;
  remote.backend = options.backend;
  remote.device = options.device;
  remote.pace = options.pace;
  // A worker that others use opens only what its operator names.
  gt::Files files;
  const std::string unread = read_files(options, !remote.token.empty(), files);
  if (!unread.empty()) return usage(unread);
  std::unique_ptr<gt::exec::Trace> trace;
  if (!options.trace.empty()) {
    if (const int bad = open_trace(options, trace); bad != 0) return bad;
  }
  // Before the process ends, the trace gets what has run.
  remote.end_process = [&trace] {
    if (trace != nullptr) trace->salvage();
    std::_Exit(static_cast<int>(gt::Exit::kLost));
  };
  const gt::Exit done = gt::exec::run_remote_session(remote, std::move(files),
                                                     options.worker, gt::say);
  return static_cast<int>(finish_trace(options, trace.get(), done));
}

}  // namespace

int main(int argc, char** argv) {
  const gt::ProcessGuard guard;
  gt::Arguments args("gt-work", "Execute a stream on this machine.", kFooter);
  Options options;
  add_computing(args, options);
  add_connecting(args, options);
  add_running(args, options);
  int status = 0;
  if (!args.parse(argc, argv, status)) return status;
  options.has_rank = args.has("--rank");
  const std::string unfit = wrong_combination(args, options);
  if (!unfit.empty()) return usage(unfit);
  if (options.prints_granted) return print_granted();
  if (options.lists_devices) return list_devices(options.backend);
  if (options.threads == 0) options.threads = default_threads(options);
  if (options.threads > 1) limit_spinning(argv);
  options.worker.caches = !options.no_cache;
  options.worker.graphs = !options.no_graphs;
  options.worker.fuse = !options.no_fuse;
  if (options.pace && !args.has("--memory")) {
    options.worker.memory = static_cast<size_t>(options.pace->memory);
  }
  if (const size_t limit = gt::group_limits().memory; limit != 0) {
    options.worker.host_memory = gt::memory_for_values(limit, sharers(options));
  }
  if (args.has("--connect")) {
    gt::talk_aside();
    return work_remotely(options);
  }
  std::unique_ptr<gt::exec::Trace> trace;
  std::optional<gt::Interrupt> interrupt;
  if (args.has("--trace")) {
    interrupt.emplace();  // before the threads of the trace and the backend
    if (const int bad = open_trace(options, trace); bad != 0) return bad;
    interrupt->watch([&trace] { trace->salvage(); });
  }
  const auto backend = gt::exec::make_backend(
      options.backend,
      {options.threads, options.isa, nullptr, options.device, options.pace});
  if (!backend.ok()) return usage(backend.error().message);
  gt::Files files;
  const std::string wrong = read_files(options, true, files);
  if (!wrong.empty()) return usage(wrong);

  gt::Writer writer(STDOUT_FILENO);
  gt::Exit done = gt::Exit::kDone;
  {
    const auto say_report = [](const gt::exec::Report& r) { gt::say(r.text); };
    gt::exec::Worker worker(*backend.value(), std::move(files), writer,
                            say_report, options.worker);
    done = gt::exec::run_session(worker, options.files, say_report);
    if (options.verbose > 0) say_stats(worker.stats());
  }
  return static_cast<int>(finish_trace(options, trace.get(), done));
}
