// A worker: takes lines, decodes them, and keeps a queue busy with them. All
// calls come from one thread, which never waits for values. Results and
// messages come from the queue's thread, in program order.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/cache.h"
#include "exec/decoder.h"
#include "exec/executor.h"
#include "exec/files.h"
#include "exec/placed_decoder.h"
#include "exec/pool.h"
#include "exec/queue.h"
#include "exec/recipe_table.h"
#include "exec/registers.h"
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

class Worker final : private Pool::Owner {
 public:
  // Results go to `out`, which is the worker's alone; failures to `reports`.
  // Both are used from the queue's thread until finish() or destruction.
  Worker(Backend& backend, Files files, Writer& out, ReportSink reports,
         const WorkerOptions& options);
  ~Worker() override;

  // One line without its newline, whatever it holds. `file` as the user named
  // it; it outlives the worker.
  void line(std::string_view text, const std::string* file, uint64_t number);
  // A line that was too long to read.
  void reject(std::string_view beginning, std::string message,
              const std::string* file, uint64_t number);
  // Input is idle: what was enqueued must run.
  void idle() { queue_.kick(); }
  // No more lines are wanted.
  bool stopped() const { return executor_.stopped(); }
  // Waits for all that was enqueued; the largest status of the lines.
  Exit finish();

  Marks& marks() { return marks_; }
  WorkerStats stats() const;

 private:
  using Lines = Cache<LineEntry>;
  static constexpr size_t kLineSets = size_t{1} << 14;
  static constexpr size_t kSeen = size_t{1} << 16;
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
  void declare(const Line& line, std::string_view text, const Where& origin);
  void keep(std::unique_ptr<LineEntry> entry, uint64_t hash);
  void dispose(std::unique_ptr<LineEntry> entry);
  static void release_recipes(LineEntry& entry,
                              std::vector<std::unique_ptr<Recipe>>& unused);
  bool seen_before(uint64_t hash);
  Where origin_at(const Line& line);
  void reset_tables();
  void forget_lines();

  void take_comment(std::string_view text, const std::string* file,
                    uint64_t number);
  void act(LineEntry& entry, Where origin);
  void run(LineEntry& entry, const Where& origin);
  void output(LineEntry& entry, const Where& origin);
  void output_made(LineEntry& entry, const Where& origin);
  void output_value(LineEntry& entry, const Where& origin, const Type& type,
                    const void* data);
  bool take_blocks(const LineEntry& entry, const Where& origin);
  void enqueue(LineEntry& entry, const Where& origin);
  void bind_results(const LineEntry& entry);
  void out_of_memory(const LineEntry& entry, const Where& origin,
                     const Block& block);
  void fail_results(const LineEntry& entry, const Fault& fault);
  void reject_line(const Line& line, const Error& error, std::string_view text,
                   const Where& origin);
  void enqueue_job(std::unique_ptr<Job> job, uint64_t cost);
  const TraceText* trace_text(LineEntry& entry, const Where& origin,
                              double bytes, double flops);
  std::unique_ptr<Job> traced(std::unique_ptr<Job> job, LineEntry& entry,
                              const Where& origin, double bytes);

  void release_later(void* data, size_t bytes) override;
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
  std::vector<uint16_t> seen_;
  bool caches_;
  Trace* trace_;
  std::unordered_set<std::string> at_files_;
  Marks marks_;
  Line line_;
  std::string text_;
  std::vector<Buffer*> blocks_;
  std::vector<Buffer*> new_values_;
  WorkerStats stats_;
};

}  // namespace gt
