// A worker executes a program: it takes lines, decodes them, and keeps the
// compute queue busy with them. One thread, the decoding thread, makes all
// calls; it never waits for values. Results and messages come from the queue's
// thread, in program order.
//
// A worker on its own plays all ranks of the program. A worker attached to a
// gt-route is one of several: it has a number among them and plays the ranks
// that it is assigned (decode/hosting.h), and its communication thread
// exchanges values with the others (comm/engine.h). Its results and messages
// are those of its own ranks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exec/comm/metered.h"
#include "exec/decode/decoder.h"
#include "exec/decode/placed_decoder.h"
#include "exec/recipe/recipe_table.h"
#include "exec/worker/exchanges.h"
#include "exec/worker/line_table.h"
#include "exec/worker/task_issuer.h"
#include "file/files.h"
#include "stream/marks.h"

namespace gt::exec {

// Options of a worker.
struct WorkerOptions {
  size_t memory = 0;  // bytes that values may take; 0: no limit
  // The limit if `memory` is 0 and values live in the host's memory; 0: none.
  size_t host_memory = 0;
  bool fail_fast = false;
  bool sync = false;       // wait for the device after each line
  bool caches = true;      // false: every line is decoded anew
  bool graphs = true;      // the device records repeating blocks of lines
  bool fuse = true;        // point-wise lines may be computed together
  Trace* trace = nullptr;  // outlives the worker
};

// What a worker has done so far.
struct WorkerStats {
  uint64_t lines = 0;    // instructions
  uint64_t decoded = 0;  // instructions not found in the table
  uint64_t tasks = 0;    // instructions that became tasks of the queue
  uint64_t fused = 0;    // of these, instructions computed with others
  double flops = 0;
  size_t peak_bytes = 0;
  uint64_t recorded = 0;  // blocks that the device recorded
  uint64_t replayed = 0;  // how often it ran a recorded block
};

// Why saves fail among which the program was cut short.
inline constexpr std::string_view kCutSaves =
    "the program was cut short before it was known to be their last";

class Worker final {
 public:
  // Results go to `out`, which nobody else may use; failures go to `reports`.
  // Both are called on the queue's thread until finish() or destruction.
  Worker(Backend& backend, Files files, Writer& out, ReportSink reports,
         const WorkerOptions& options);
  ~Worker();

  // Makes this one of several workers. Must be called before the first line.
  void attach(const Attachment& attachment);
  // Waits, after attach(), until all other workers have answered. Error: names
  // the worker that has not.
  Status meet();

  // Takes a line without its newline; it may hold any bytes. `file` is the file
  // as the user named it and must outlive the worker; `number` is the line's
  // number in it. `seq` numbers the instructions of all workers, ascending; a
  // worker on its own does not use it.
  void line(std::string_view text, const std::string* file, uint64_t number,
            uint64_t seq = 0);
  // Takes a line that was too long to read, of which `beginning` is known, and
  // fails it with `message`.
  void reject(std::string_view beginning, std::string message,
              const std::string* file, uint64_t number);
  // Must be called when no input is ready: makes what was enqueued run.
  void idle();
  // Calls `call` on the queue's thread once all lines so far have run.
  void after_lines(std::function<void()> call);
  // Makes the queue wait, behind all lines so far, until the device has run
  // them, and write out the results that wait for no save.
  void settle();
  // Makes the queue wait, too, until all saves so far are written.
  void flush();
  // Ends the groups (Saves) of the saves so far.
  void end_saves();
  // Stands for a save whose value is known to have failed.
  void fail_save(std::string path, std::string why);
  // Gives up the saves whose groups have not ended: they fail for this reason.
  void abandon_saves(std::string why);
  // For the queue's thread, once all instructions up to number `seq` have run.
  // Returns the last of these up to which all saved files are written, or their
  // failures reported.
  uint64_t settled_up_to(uint64_t seq) const {
    return compute_.executor().settled_up_to(seq);
  }
  // From now on `call` is called on the queue's thread whenever settled_up_to()
  // may return more.
  void when_saved(std::function<void()> call) {
    compute_.executor().when_saved(std::move(call));
  }
  // waiting() returns what the worker waits for from other workers. abort()
  // ends these waits; the values waited for fail with the reason `why`. Any
  // thread may call both.
  comm::Waiting waiting() const;
  void abort(const std::string& why);
  // Says that another worker is lost; what waits for it fails. Any thread may
  // call it.
  void lose(unsigned other, const std::string& why);
  // at() returns the instruction (`seq`) that compute has come to, or at which
  // it stopped. ran_up_to() returns the last instruction up to which all have
  // run and it is known whether their saves are written. Any thread may call
  // both.
  uint64_t at() const { return compute_.executor().at(); }
  uint64_t ran_up_to() const { return compute_.executor().ran_up_to(); }
  // meter() counts what the worker has used. note_use() gives it the number of
  // lines and the memory used; only the decoding thread may call that.
  Meter& meter() { return compute_.executor().meter(); }
  // Says whether somebody watches, which ops are timed for, and rows of a trace
  // may be written for.
  void watch(bool is_watched) {
    meter().watch(is_watched);
    Trace* trace = compute_.executor().trace();
    if (trace != nullptr) trace->watch(is_watched);
  }
  void note_use() { meter().note(stats_.lines, pool_.used(), pool_.peak()); }
  // True if no more lines are wanted.
  bool stopped() const { return compute_.executor().stopped() || is_lost(); }
  // True if the device is lost, and with it all values.
  bool is_lost() const { return compute_.executor().is_lost(); }
  // After finish(): the failure that stopped the worker
  // (Executor::stopped_by()).
  const std::string& stopped_by() const {
    return compute_.executor().stopped_by();
  }
  // Waits until everything enqueued has run and other workers have read all
  // they need of it. Returns the largest status of the lines.
  Exit finish();

  Marks& marks() { return marks_; }
  WorkerStats stats() const;

 private:
  static constexpr size_t kMaxTypes = size_t{1} << 14;

  // What a worker has only if it is one of several.
  struct PeerContext {
    PeerContext(const Attachment& attachment, const BuilderContext& context,
                bool caches)
        : communicator(attachment.communicator),
          hosting(attachment.self, attachment.workers),
          programs(context, caches) {}
    comm::Communicator& communicator;
    Hosting hosting;
    RecipeTable programs;  // recipes that the communication thread runs
    // Declared before `exchanges`, which calls it.
    std::optional<comm::Metered> metered;
    std::optional<Exchanges> exchanges;
  };

  void decode(std::string_view whole, const NotedText& parts, uint64_t hash,
              Where origin);
  Decoding decode_parsed();
  void reject_line(const Line& line, const Error& error, std::string_view text,
                   const Where& origin);
  void fail_line(const Line& line, const Fault& fault);
  void tell_groups(std::string_view space, const Where& origin);
  void take_comment(std::string_view text, const Where& origin);
  Status take_control(std::string_view text, const Where& origin);
  void reset_tables();
  void note_quiet(bool is_quiet);

  Backend& backend_;
  Saves saves_;
  ComputeQueue compute_;
  Pool pool_;
  LentBuffers lent_;
  TypeIds types_;
  Registers registers_;
  RecipeTable recipes_;
  Decoder decoder_;
  PlacedDecoder placed_decoder_;
  Meshes meshes_;
  LineTrace trace_;
  LineTable lines_;
  LineGroup group_;
  TaskIssuer issuer_;
  // Set only if the host cannot see the device's values.
  std::optional<KnownIntegers> known_;
  bool caches_;
  bool is_quiet_ = false;  // no line has come since idle() was called
  Marks marks_;
  Line line_;  // the line being decoded; a member so that its memory is reused
  WorkerStats stats_;
  std::optional<PeerContext> peers_;
};

}  // namespace gt::exec
