#include "exec/worker/worker.h"

#include "base/clock.h"
#include "base/hash.h"
#include "exec/decode/workers_along.h"
#include "file/stored.h"
#include "net/control_lines.h"
#include "ops/table.h"
#include "spmd/labels.h"
#include "stream/ranks.h"

namespace gt::exec {
namespace {

constexpr size_t kLongLine = size_t{1} << 20;

// Returns the paths that a save writes on the ranks for which `wanted` is true.
// For a malformed save it returns what can be known: one path, or none.
std::vector<std::string> saved_paths(
    const Line& line, const std::function<bool(int64_t rank)>& wanted) {
  if (line.operands.size() < 2 ||
      line.operands[1].kind != Operand::Kind::kString) {
    return {};
  }
  const std::string path = unquote(line.operands[1].text);
  const auto ranks = parse_ranks(line.operands[0].ranks);
  if (!ranks.ok()) return {path};
  const bool is_one = ranks.value().size() == 1 || line.key("split") != nullptr;
  std::vector<std::string> paths;
  for (const int64_t rank : ranks.value()) {
    if (!wanted(rank)) continue;
    paths.push_back(is_one ? path : path_of_rank(path, std::to_string(rank)));
    if (is_one) break;
  }
  return paths;
}

ExecutorOptions executor_options(const WorkerOptions& options) {
  // A trace needs a row with its own times for each line, so no blocks are
  // recorded.
  const bool looks_at_each = options.sync || options.trace != nullptr;
  return {.fail_fast = options.fail_fast,
          .trace = options.trace,
          .waits_for_each = options.sync,
          .records_repeats = options.graphs && !looks_at_each};
}

}  // namespace

Worker::Worker(Backend& backend, Files files, Writer& out, ReportSink reports,
               const WorkerOptions& options)
    : backend_(backend),
      saves_(std::move(files)),
      compute_(backend, saves_, out, std::move(reports),
               executor_options(options)),
      pool_(backend.device(), compute_, options.memory,
            backend.device().is_host() ? options.host_memory : 0),
      lent_(compute_, pool_),
      registers_(pool_),
      recipes_({backend_, types_, saves_}, options.caches),
      decoder_(registers_, types_, recipes_),
      placed_decoder_(decoder_, registers_, types_),
      trace_(options.trace, compute_),
      lines_(registers_, meshes_, compute_, trace_, options.caches),
      // A trace has a row for each line, and with `sync` each line is waited
      // for.
      group_(backend, compute_, types_,
             options.fuse && !options.sync && options.trace == nullptr),
      issuer_(compute_, pool_, lent_, registers_, types_, trace_, group_),
      caches_(options.caches) {
  compute_.set_reclaim([this] {
    return (peers_ && peers_->exchanges->wait_and_reap()) ||
           lent_.wait_and_reap();
  });
  const Device& device = backend.device();
  if (device.is_host() || !device.has_data()) return;
  known_.emplace(types_, saves_, options.caches);
  decoder_.know_integers(known_->recipes());
  issuer_.know_integers(*known_);
}

Worker::~Worker() {
  abort("the worker ends");
  compute_.drain();
  saves_.end();  // the thread of saves_ reads values
}

// ---- among others -----------------------------------------------------------

void Worker::attach(const Attachment& attachment) {
  PeerContext& peers = peers_.emplace(
      attachment, BuilderContext{attachment.backend, types_, saves_}, caches_);
  Attachment metered = attachment;
  metered.watch = &peers.metered.emplace(meter(), attachment.watch);
  peers.exchanges.emplace(metered, compute_, pool_, registers_, trace_);
  placed_decoder_.join(peers.hosting, peers.programs);
  lines_.join(peers.hosting);
  issuer_.join(*peers.exchanges);
}

Status Worker::meet() {
  return peers_ ? peers_->exchanges->connect() : ok_status();
}

comm::Waiting Worker::waiting() const {
  return peers_ ? peers_->communicator.waiting() : comm::Waiting{};
}

void Worker::abort(const std::string& why) {
  if (peers_) peers_->communicator.abort(why);
}

void Worker::lose(unsigned other, const std::string& why) {
  if (peers_) peers_->communicator.lose(other, why);
}

// ---- a line -----------------------------------------------------------------

void Worker::line(std::string_view text, const std::string* file,
                  uint64_t number, uint64_t seq) {
  compute_.set_seq(seq);
  if (is_quiet_) note_quiet(false);
  if (text.empty()) return;
  const NotedText parts = split_notes(text);
  Where origin{file, number};
  if (parts.text.empty()) {
    if (!parts.notes.empty()) take_comment(parts.notes, origin);
    return;
  }
  ++stats_.lines;
  const bool may_be_kept = lines_.may_keep(parts.text);
  const uint64_t hash = may_be_kept ? hash_bytes(parts.text) : 0;
  if (may_be_kept && parts.is_clean) {
    if (LineEntry* entry = lines_.find(parts, hash, origin)) {
      return issuer_.issue(*entry, origin);
    }
  }
  decode(text, parts, hash, origin);
  // Frees the memory that a literal of millions of numbers took.
  if (text.size() < kLongLine) return;
  line_ = Line{};
  decoder_.forget_line();
}

// Decodes and issues a line that the table does not have.
void Worker::decode(std::string_view whole, const NotedText& parts,
                    uint64_t hash, Where origin) {
  ++stats_.decoded;
  if (types_.size() > kMaxTypes || lines_.is_full()) reset_tables();
  registers_.begin_line();
  const Status parsed = parse_line(whole, line_);
  if (!parsed.ok()) return reject_line(line_, parsed.error(), whole, origin);
  const Where at = lines_.place_of(line_);
  if (at.file != nullptr) origin = at;
  if (is_declaration(statement_of(line_.op))) {
    const uint64_t known = meshes_.version();
    const Status s = meshes_.take(line_);
    if (!s.ok()) return reject_line(line_, s.error(), whole, origin);
    const std::string_view* space = line_.key("space");
    if (meshes_.version() != known) {
      tell_groups(space == nullptr ? "" : unquote(*space), origin);
    }
    return;
  }
  Decoding decoding = decode_parsed();
  if (decoding.entry != nullptr) {
    decoding.entry->set_text(parts.text, line_.op_column);
    lines_.set_notes(*decoding.entry, line_, parts.notes, at);
    issuer_.issue(*decoding.entry, origin);
    lines_.add(std::move(decoding.entry), hash);
  } else if (decoding.poison != nullptr) {
    fail_line(line_, decoding.poison);
  } else {
    reject_line(line_, decoding.error, whole, origin);
  }
}

Decoding Worker::decode_parsed() {
  // The value goes to another worker. A worker on its own copies it, or saves
  // it.
  if (peers_ && line_.note("from") != nullptr &&
      (statement_of(line_.op) == Statement::kSave ||
       (!is_placed(line_) && collective_of(line_.op) == Collective::kCopy))) {
    return placed_decoder_.decode_transfer(line_);
  }
  if (is_placed(line_)) {
    return placed_decoder_.decode(line_, meshes_.of(line_));
  }
  return decoder_.decode(line_);
}

// Empties the tables that only grow. The program does not notice it.
void Worker::reset_tables() {
  while (peers_ && peers_->exchanges->wait_and_reap()) {
  }
  compute_.drain();
  lines_.clear();
  recipes_.clear();
  if (known_) known_->recipes().clear();
  if (peers_) peers_->programs.clear();
  registers_.renumber_types(types_);
}

// Called when the mesh of a name space has changed, or which workers play its
// ranks: lets the communicator prepare for sums over the mesh's axes. All
// workers get the lines that cause this, in the same order relative to other
// lines.
void Worker::tell_groups(std::string_view space, const Where& origin) {
  if (!peers_ || !peers_->communicator.has_groups()) return;
  const std::string name = name_in(space);
  const Mesh* mesh = meshes_.of(name);
  if (mesh == nullptr) return;
  auto sets = workers_along(*mesh, peers_->hosting, name);
  if (!sets.empty()) peers_->exchanges->group(std::move(sets), origin);
}

// ---- what fails -------------------------------------------------------------

void Worker::reject_line(const Line& line, const Error& error,
                         std::string_view text, const Where& origin) {
  const size_t column = error.column != 0 ? error.column : line.op_column;
  fail_line(line, compute_.fail(origin, {error.message, column},
                                std::string(text), Exit::kRejected));
}

// Fails a line: what it would bind, print or save on this worker gets the
// fault.
void Worker::fail_line(const Line& line, const Fault& fault) {
  const auto is_mine = [this, &line](int64_t rank) {
    return !peers_ || peers_->hosting.is_mine(space_name(line), rank);
  };
  for (const std::string& name : bound_names(line, is_mine)) {
    registers_.fail(registers_.obtain(name), fault);
  }
  const Statement statement = statement_of(line.op);
  if (statement == Statement::kSave) {
    for (std::string& path : saved_paths(line, is_mine)) {
      compute_.add(save_failure_job(std::move(path), *fault));
    }
  }
  if (statement != Statement::kPrint) return;
  for (const std::string& label : print_labels(line, is_mine)) {
    compute_.add(print_failure_job(label, *fault));
  }
}

void Worker::reject(std::string_view beginning, std::string message,
                    const std::string* file, uint64_t number) {
  reject_line({}, {std::move(message), 0}, beginning, {file, number});
}

// ---- comments ---------------------------------------------------------------

void Worker::take_comment(std::string_view text, const Where& origin) {
  if (peers_) {
    const Status taken = take_control(text, origin);
    if (!taken.ok()) {
      (void)compute_.fail(origin, taken.error(), std::string(text),
                          Exit::kRejected);
    }
  }
  if (const std::string_view sync = sync_of(text); !sync.empty()) {
    compute_.add(sync_job(std::string(sync)));
  }
  if (!peers_ && asks_reports(text)) {
    compute_.add(call_job(
        [&executor = compute_.executor()] { executor.write_reports(); }));
  }
  if (marks_.take(text) != Marks::Mark::kBadVersion) return;
  reject(text, "a stream of this version cannot be read; gt 1 is known",
         origin.file, origin.line);
}

// Takes a line that controls one of several workers.
Status Worker::take_control(std::string_view text, const Where& origin) {
  if (net::is_ranks_line(text)) {
    const auto ranks = net::parse_ranks_line(text);
    if (!ranks.ok()) return ranks.error();
    const uint64_t known = peers_->hosting.version();
    const Status s = peers_->hosting.take(ranks.value());
    if (peers_->hosting.version() != known) {
      tell_groups(ranks.value().space, origin);
    }
    return s;
  }
  if (!net::is_fence_line(text)) return ok_status();
  const auto fence = net::parse_fence_line(text);
  if (!fence.ok()) return fence.error();
  return peers_->exchanges->fence(fence.value(), origin);
}

// ---- between lines ----------------------------------------------------------

void Worker::note_quiet(bool is_quiet) {
  is_quiet_ = is_quiet;
  compute_.executor().note_quiet(is_quiet ? steady_ns() : 0);
}

void Worker::idle() {
  if (!is_quiet_) note_quiet(true);
  if (peers_) peers_->exchanges->reap();
  lent_.reap();
  compute_.kick();
}

void Worker::after_lines(std::function<void()> call) {
  compute_.add(call_job(std::move(call)));
}

void Worker::settle() { compute_.add(settle_job()); }

void Worker::flush() { compute_.add(flush_job()); }

void Worker::end_saves() { compute_.add(end_saves_job()); }

void Worker::fail_save(std::string path, std::string why) {
  compute_.add(save_failure_job(std::move(path), std::move(why)));
}

void Worker::abandon_saves(std::string why) {
  compute_.add(abandon_saves_job(std::move(why)));
}

Exit Worker::finish() {
  while (peers_ && peers_->exchanges->wait_and_reap()) {
  }
  compute_.add(flush_job());
  compute_.drain();
  compute_.executor().report_counts(marks_.opened());
  return compute_.executor().status();
}

WorkerStats Worker::stats() const {
  WorkerStats stats = stats_;
  stats.tasks = issuer_.tasks();
  stats.fused = group_.fused();
  stats.flops = issuer_.flops();
  stats.peak_bytes = pool_.peak();
  if (const Repeats* repeats =
          compute_.executor().speculative_issue().repeats()) {
    stats.recorded = repeats->recorded();
    stats.replayed = repeats->replayed();
  }
  return stats;
}

}  // namespace gt::exec
