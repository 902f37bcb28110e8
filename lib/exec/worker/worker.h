// A worker executes a program: it takes lines, decodes them, and keeps a queue
// busy with them. One thread, the decoding thread, makes all calls, and never
// waits for values. Results and messages come from the queue's thread, in
// program order.
//
// A worker on its own plays all ranks of the program. One of several, attached
// to a gt-route, has a number among them and plays the ranks that it is told
// (decode/hosting.h); its communication thread exchanges values with the others
// (comm/engine.h). Its results and messages are those of its own ranks.
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

struct WorkerOptions {
  size_t memory = 0;  // bytes that values may take; 0: no limit
  bool fail_fast = false;
  bool sync = false;       // wait for the device after each line
  bool caches = true;      // off: every line is decoded anew
  bool graphs = false;     // the device records blocks that come again
  Trace* trace = nullptr;  // outlives the worker
};

struct WorkerStats {
  uint64_t lines = 0;    // instructions
  uint64_t decoded = 0;  // those not found in the table
  uint64_t tasks = 0;    // that went to the queue
  double flops = 0;
  size_t peak_bytes = 0;
  uint64_t recorded = 0;  // blocks that the device recorded,
  uint64_t replayed = 0;  // and how often it did one as one piece
};

class Worker final {
 public:
  // Results go to `out`, which is the worker's alone; failures to `reports`.
  // Both are used from the queue's thread until finish() or destruction.
  Worker(Backend& backend, Files files, Writer& out, ReportSink reports,
         const WorkerOptions& options);
  ~Worker();

  // Makes it one of several workers, before its first line.
  void attach(const Attachment& attachment);
  // Then waits until it has heard from all others. Error: from whom it has not.
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
  // All saves so far are written when the queue comes there.
  void settle();
  // For the queue's thread, once all lines up to number `seq` have run. Returns
  // the last of these for which, as for all before it, the files that it saves
  // are written or their failure has been reported.
  uint64_t settled_up_to(uint64_t seq) const {
    return compute_.executor().settled_up_to(seq);
  }
  // From now on `call` is called on the queue's thread whenever settled_up_to()
  // may return more.
  void when_saved(std::function<void()> call) {
    compute_.executor().when_saved(std::move(call));
  }
  // Any thread, once attached: what it waits for of other workers; and an end
  // to these waits, so that what waited fails for that reason.
  comm::Waiting waiting() const;
  void abort(const std::string& why);
  // Any thread: another worker is lost, and what waits for it fails.
  void lose(unsigned other, const std::string& why);
  // Any thread: the instruction (`seq`) that compute has come to, or at which
  // it stopped; and the last of those before it, which all have run.
  uint64_t at() const { return compute_.executor().at(); }
  uint64_t ran_up_to() const { return compute_.executor().ran_up_to(); }
  // What it has used so far, and to tell it what lines it had; the latter from
  // the decoding thread.
  Meter& meter() { return compute_.executor().meter(); }
  void note_use() { meter().note(stats_.lines, pool_.used(), pool_.peak()); }
  // No more lines are wanted.
  bool stopped() const { return compute_.executor().stopped() || is_lost(); }
  // Its device is, and with it all values.
  bool is_lost() const { return compute_.executor().is_lost(); }
  // Once finished: the failure that stopped it, see Executor.
  const std::string& stopped_by() const {
    return compute_.executor().stopped_by();
  }
  // Waits until all that was enqueued has run and others have read what they
  // read of it. Returns the largest status of the lines.
  Exit finish();

  Marks& marks() { return marks_; }
  WorkerStats stats() const;

 private:
  static constexpr size_t kMaxTypes = size_t{1} << 14;

  // One of several workers: who plays which rank, and what they exchange.
  struct Company {
    Company(const Attachment& attachment, const BuilderContext& context,
            bool caches)
        : communicator(attachment.communicator),
          hosting(attachment.self, attachment.workers),
          programs(context, caches) {}
    comm::Communicator& communicator;
    Hosting hosting;
    RecipeTable programs;                  // of the communication thread
    std::optional<comm::Metered> metered;  // before those that tell it
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
  TaskIssuer issuer_;
  std::optional<KnownIntegers> known_;  // where the host sees no values
  bool caches_;
  Marks marks_;
  Line line_;  // that is decoded; kept for the memory of its vectors
  WorkerStats stats_;
  std::optional<Company> company_;
};

}  // namespace gt::exec
