// A worker: takes lines, decodes them, and keeps a queue busy with them. All
// calls come from one thread, which never waits for values. Results and
// messages come from the queue's thread, in program order.
//
// One of several workers is told which ranks it plays, and exchanges values
// with the others (comm/engine.h). Its results and messages are those of its
// own ranks.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/cache.h"
#include "base/seen.h"
#include "exec/comm/engine.h"
#include "exec/decode/decoder.h"
#include "exec/decode/placed_decoder.h"
#include "exec/decode/recipe_table.h"
#include "exec/decode/registers.h"
#include "exec/memory/pool.h"
#include "exec/queue/executor.h"
#include "exec/queue/queue.h"
#include "file/files.h"
#include "stream/marks.h"
#include "stream/notes.h"

namespace gt {

struct WorkerOptions {
  size_t memory = 0;  // bytes that values may take; 0: no limit
  bool fail_fast = false;
  bool caches = true;      // off: every line is decoded anew
  Trace* trace = nullptr;  // outlives the worker
};

struct WorkerStats {
  uint64_t lines = 0;    // instructions
  uint64_t decoded = 0;  // those not found in the table
  uint64_t tasks = 0;    // that went to the queue
  double flops = 0;
  size_t peak_bytes = 0;
};

// What makes a worker one of several. Everything outlives it.
struct Attachment {
  unsigned self;  // below `workers`
  unsigned workers;
  comm::Link& link;
  // Kernels of the communication thread: a second backend, of one thread.
  Backend& backend;
  Arena* arena = nullptr;          // that both backends take memory from
  std::vector<std::string> names;  // of the workers, for messages
  // Without any sign of another worker; then it counts as lost.
  std::chrono::milliseconds patience{60'000};
  comm::Watch* watch = nullptr;  // is told of exchanges
};

class Worker final : private Pool::Owner {
 public:
  // Results go to `out`, which is the worker's alone; failures to `reports`.
  // Both are used from the queue's thread until finish() or destruction.
  Worker(Backend& backend, Files files, Writer& out, ReportSink reports,
         const WorkerOptions& options);
  ~Worker() override;

  // Makes it one of several workers, before its first line; then waits until it
  // has heard from all others. Error: from whom not.
  void attach(const Attachment& attachment);
  Status meet();

  // One line without its newline, whatever it holds. `file` as the user named
  // it; it outlives the worker. `seq` numbers the instructions that all workers
  // get, ascending; a worker on its own has no use for it.
  void line(std::string_view text, const std::string* file, uint64_t number,
            uint64_t seq = 0);
  // A line that was too long to read.
  void reject(std::string_view beginning, std::string message,
              const std::string* file, uint64_t number);
  // Input is idle: what was enqueued must run.
  void idle();
  // Calls it on the queue's thread once all lines so far have run.
  void after_lines(std::function<void()> call);
  // Any thread, once attached: what it waits for of other workers. Waits end,
  // and what waited fails for that reason.
  comm::Waiting waiting() const;
  // Any thread: the instruction (`seq`) that compute has come to, or at which
  // it stopped; and the last of those before it, which all have run.
  uint64_t at() const { return executor_.at(); }
  uint64_t ran_up_to() const { return at() == 0 ? 0 : at() - 1; }
  void abort(const std::string& why);
  // No more lines are wanted.
  bool stopped() const { return executor_.stopped(); }
  // Once finished: the failure that stopped it, see Executor.
  const std::string& stopped_by() const { return executor_.stopped_by(); }
  // Waits for all that was enqueued; the largest status of the lines.
  Exit finish();

  Marks& marks() { return marks_; }
  WorkerStats stats() const;

 private:
  using Lines = Cache<LineEntry>;
  static constexpr size_t kLineSets = size_t{1} << 14;
  static constexpr size_t kMaxCachedLine = 4096;
  static constexpr size_t kMaxTypes = size_t{1} << 14;
  static constexpr size_t kMaxFiles = 4096;

  using Split = NotedText;

  bool run_cached(const Split& parts, uint64_t hash, Where origin);
  bool check_notes(LineEntry& entry, std::string_view notes);
  static bool has_moved(LineEntry& entry, std::string_view notes);
  void take_notes(LineEntry& entry, std::string_view notes, Where at);
  bool is_valid(const LineEntry& entry) const;
  void decode(std::string_view whole, const Split& parts, uint64_t hash,
              Where origin);
  void decode_line(std::string_view whole, const Split& parts, uint64_t hash,
                   Where origin);
  bool is_transfer(const Line& line) const;
  void declare(const Line& line, std::string_view text, const Where& origin);
  void keep(std::unique_ptr<LineEntry> entry, uint64_t hash);
  void dispose(std::unique_ptr<LineEntry> entry);
  Where origin_at(const Line& line);
  void reset_tables();

  void take_comment(std::string_view text, const std::string* file,
                    uint64_t number);
  void act(LineEntry& entry, Where origin);
  void run(LineEntry& entry, const Where& origin);
  void output(LineEntry& entry, const Where& origin);
  void output_made(LineEntry& entry, const Where& origin);
  void output_value(LineEntry& entry, const Where& origin, const Type& type,
                    const Value& value);
  bool take_blocks(const LineEntry& entry, const Where& origin);
  void enqueue(LineEntry& entry, const Where& origin);
  void bind_results(const LineEntry& entry);
  void out_of_memory(const LineEntry& entry, const Where& origin,
                     const Block& block);
  Fault no_memory(const std::string& op, const Type& type, size_t bytes,
                  const std::string& text, const Where& origin);
  void fail_results(const LineEntry& entry, const Fault& fault);
  void reject_line(const Line& line, const Error& error, std::string_view text,
                   const Where& origin);
  void enqueue_job(std::unique_ptr<Job> job, uint64_t cost);
  const TraceText* trace_text(LineEntry& entry, const Where& origin,
                              double bytes, double flops,
                              const char* queue = "compute");
  void dispose_text(std::shared_ptr<const TraceText> text);
  void trace_exchange(LineEntry& entry, comm::ExchangeRun& op);
  std::unique_ptr<Job> traced(std::unique_ptr<Job> job, LineEntry& entry,
                              const Where& origin, double bytes);

  // worker_exchange.cc: with other workers.
  struct Attached {
    Attached(const comm::EngineOptions& options, const BuilderContext& context,
             bool caches)
        : hosting(options.self, options.workers),
          programs(context, caches),
          engine(options) {}
    Hosting hosting;
    RecipeTable programs;
    comm::Engine engine;
    size_t outstanding = 0;  // exchanges that were not taken back
    size_t held = 0;         // bytes of theirs
    bool is_full() const {
      return outstanding >= comm::Engine::kMostOps ||
             (outstanding > 1 && held > kMostHeld) ||
             (outstanding > kEnough && held > kWarm);
    }
  };
  // Memory that exchanges use is not used again before they end, so decoding
  // runs ahead of them only so far: with enough of them to keep both queues
  // busy it uses memory again that is warm, rather than touch more.
  static constexpr size_t kEnough = 16;
  static constexpr size_t kWarm = size_t{32} << 20;
  static constexpr size_t kMostHeld = size_t{256} << 20;
  static size_t bytes_held(const comm::ExchangeRun& op);
  void take_control(std::string_view text, const Where& origin);
  Status take_fence(std::string_view words, const Where& origin);
  // Which ranks of the line it plays; empty: all.
  std::function<bool(int64_t)> own_ranks(const Line& line) const;
  uint64_t placement_version() const;
  void output_exchanged(LineEntry& entry, const Where& origin);
  std::shared_ptr<comm::ExchangeRun> begin(LineEntry& entry,
                                           const Where& origin);
  void show(const LineEntry& entry, comm::ExchangeRun& op);
  void make_room(const LineEntry& entry, comm::ExchangeRun& op);
  Buffer* hold_target(const comm::Target& target, comm::ExchangeRun& op,
                      comm::ExchangeRun::Made& made);
  Buffer* hold(uint32_t size_class, comm::ExchangeRun& op);
  void bind_made(const LineEntry& entry, comm::ExchangeRun& op);
  static Fault known_fault(const comm::ExchangeRun& op, size_t target);
  void start(const std::shared_ptr<comm::ExchangeRun>& op);
  void adopt(comm::ExchangeRun& op);
  void adopt_operands(const LineEntry& entry);
  Buffer* allocate(uint32_t size_class);
  void reap();
  bool wait_and_reap();
  void reap_all();

  void release_later(std::unique_ptr<Value> value, size_t bytes) override;
  void drain() override;

  Backend& backend_;
  Saves saves_;
  Executor executor_;
  Queue queue_;
  Pool pool_;
  TypeTable types_;
  Registers registers_;
  RecipeTable recipes_;
  Decoder decoder_;
  PlacedDecoder placed_decoder_;
  Meshes meshes_;
  Lines lines_;
  Seen seen_;
  bool caches_;
  Trace* trace_;
  std::unordered_set<std::string> at_files_;
  Marks marks_;
  Line line_;
  std::string text_;
  std::vector<Buffer*> blocks_;
  std::vector<Buffer*> new_values_;
  WorkerStats stats_;
  std::unique_ptr<Attached> attached_;
  size_t unadopted_ = 0;  // exchanges that compute has not waited for
  uint64_t seq_ = 0;
};

}  // namespace gt
