// The core of gt-route, without sockets: takes a stream line by line and says
// what is to be sent to which worker, and which results are owed in what order.
//
// All queues are projections of one total order: what is issued is numbered,
// and each worker gets the instructions that concern it, in that order. So the
// earliest unfinished one can always run, and nothing waits in a circle.
//
// Placed lines go to the workers that play their ranks. An unplaced line goes
// to one worker, see place(): where its operands are, unless the work that
// waits there pays for their copies elsewhere. What makes a value from nothing
// waits until the value is read, and goes where that is. Values are copied, or
// made again, where they are missing, as lines of our own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/cache.h"
#include "base/exit.h"
#include "base/message.h"
#include "base/reported.h"
#include "base/seen.h"
#include "ops/call.h"
#include "route/block_finder.h"
#include "route/held_lines.h"
#include "route/homes.h"
#include "route/loads.h"
#include "route/outbox.h"
#include "route/path_order.h"
#include "route/rank_table.h"
#include "route/result_order.h"
#include "route/round.h"
#include "route/route.h"
#include "spmd/mesh.h"
#include "spmd/placed.h"
#include "stream/marks.h"
#include "stream/notes.h"

namespace gt {

struct DispatcherOptions {
  uint32_t workers = 1;
  bool fail_fast = false;
  bool caches = true;  // off: every line is decoded anew
  size_t cache_sets = size_t{1} << 14;
  bool hot = true;  // blocks that come again are found
};

// What was numbered, for the log.
struct Issue {
  enum class Kind : uint8_t {
    kInstruction,  // of the program, or a copy of ours: replaying them is the
                   // program again
    kControl,      // for some worker alone: a fence, a stale copy's free
    kComment       // that came in; it has no number, `seq` is the last
  };
  uint64_t seq = 0;
  uint64_t line = 0;
  std::string_view text;
  const std::vector<uint32_t>* workers = nullptr;
  Kind kind = Kind::kInstruction;
};

class Dispatcher {
 public:
  using Sink = std::function<void(std::string_view)>;
  using IssueSink = std::function<void(const Issue&)>;

  // `messages` gets whole messages for people. `issues` may be empty.
  Dispatcher(const DispatcherOptions& options, Sink messages,
             IssueSink issues = {});

  // Later lines are of that file, as the user named it.
  void set_file(std::string_view name);
  const std::string& file() const { return *source_.file; }
  // One line without its newline, whatever it holds.
  void line(std::string_view text, uint64_t number);
  // A line that cannot be read, too long for example.
  void reject(std::string_view beginning, const std::string& message,
              uint64_t number);

  // The round that the last line ended, if another one of its text would do
  // just the same; else null.
  const Round* round() const { return is_steady_ ? &last_round_ : nullptr; }
  // So many more of it came.
  void repeat(uint64_t times);

  // No more lines come: those that wait for a reader need wait no more.
  void flush();

  // A worker has finished all up to `seq`.
  void done(uint32_t worker, uint64_t seq) { loads_.done(worker, seq); }

  const Outbox& outbox() const { return outbox_; }
  // Bodies that leave.
  std::vector<Outbox::Batch> take(Outbox::Take which);
  // Blocks that workers shall not keep any longer.
  std::vector<uint64_t> take_forgotten() { return outbox_.take_forgotten(); }
  ResultOrder& results() { return results_; }
  const Loads& loads() const { return loads_; }
  Marks& marks() { return marks_; }

  Exit status() const { return status_; }
  bool stopped() const { return fail_fast_ && status_ != Exit::kDone; }
  uint64_t lines() const { return lines_; }
  uint64_t decoded() const { return decoded_; }
  uint64_t repeated() const { return repeated_; }  // of lines()
  uint64_t seq() const { return next_seq_; }
  // The failures that people have been told of, by it or by workers.
  Reported& reported() { return reported_; }
  // Registers, types and lines that it has room for: what its memory grows by.
  size_t kept() const {
    return homes_.size() + types_.size() + held_.size() + paths_.size();
  }

 private:
  using Routes = Cache<Route>;
  static constexpr size_t kMaxCachedLine = 4096;
  static constexpr size_t kMaxTypes = size_t{1} << 14;

  // The fast path.
  void comment(std::string_view text, std::string_view notes);
  void dispatch(std::string_view text, const NotedText& parts, uint64_t hash);
  void dispatch_marked(const NotedText& parts, uint64_t hash, uint32_t block);
  bool is_valid(const Route& route) const;
  bool check_notes(Route& route, std::string_view notes);
  void act(const Route& route, const NotedText& parts);
  void run(const Route& route, std::string_view text);
  void output(const Route& route, std::string_view text);
  void free(const Route& route, const NotedText& parts);
  void act_placed(const Route& route, const NotedText& parts);
  bool hold(const Route& route, std::string_view text);
  void issue_held(HomeId id, uint32_t worker);
  void issue_readers(const std::vector<RoutePath>& paths);
  void bring(const RouteOperand& operand, uint32_t worker);
  void copy(const RouteOperand& operand, uint32_t worker);
  void make_again(const PureLine& recipe, uint32_t worker);
  void bind_on(uint32_t worker, const Route& route);
  void settle(HomeId id, uint32_t worker, uint64_t bytes);
  void fence(const std::vector<RoutePath>& paths,
             const std::vector<uint32_t>& here);
  void owe(const Route& route, const std::vector<uint32_t>* here);

  // Rounds.
  RoundStart round_start() const;
  void begin_round();
  void begin_block(std::string_view text);
  void end_block();
  void end_rounds() {
    round_.drop();
    was_one_ = is_steady_ = false;
  }

  // Where an unplaced line runs.
  uint32_t place(const Route& route);
  uint32_t place_new(const Route& route) const;
  uint32_t place_alone(HomeId id) const;
  uint32_t choose(const Route& route);
  uint32_t nearest(const Route& route) const;
  uint64_t missing_on(uint32_t worker, const Route& route) const;
  uint64_t finish_on(uint32_t worker, const Route& route) const;

  void issue(const std::vector<uint32_t>& workers, std::string_view text,
             Issue::Kind kind = Issue::Kind::kInstruction);
  void tell(const std::vector<uint32_t>& workers, std::string_view text);
  void tell_file();
  void release_on(const Home& home);

  // The slow path.
  void decode(std::string_view text, const NotedText& parts, uint64_t hash);
  void decode_parsed(std::string_view text, const NotedText& parts,
                     uint64_t hash);
  bool has_our_notes() const;
  void reset_tables();
  void keep(std::unique_ptr<Route> route, std::string_view text, uint64_t hash);
  void declare(std::string_view text);
  Status route_plain(Route& route);
  Status find_operands(FailureText& poison);
  Status route_output(Route& route);
  Status route_fail(Route& route);
  void route_poisoned(Route& route, FailureText poison);
  void add_operand(Route& route, HomeId id) const;
  void add_result(Route& route, HomeId id, TypeNumbers::Id type);

  // The same of lines with ranks.
  Status route_placed(Route& route);
  Status find_pieces(Route& route);
  Status place_ranks(const Ranks& more, Route& route);
  Status route_free(Route& route);
  Status route_crossing(Route& route);
  Status route_assembly(Route& route, const Grid& grid);
  Status route_ranks(Route& route, const Grid& grid);
  Status outputs_of_ranks(Route& route);
  PieceType piece_types(bool stand_in);
  FailureText failure_in(size_t operand, const Ranks& ranks) const;
  void add_pieces_note(size_t operand, const Ranks& ranks, Route& route) const;
  void add_piece_results(Route& route,
                         const std::vector<std::vector<Type>>& types);
  void fail_pieces(Route& route, FailureText why);
  uint64_t cost_of_rank(const Grid& grid);

  // Failure.
  void reject_line(const Error& error, std::string_view text);
  void fail_name(const Name& name, const FailureText& why);
  Place place_of_line();
  void say_once(const Error& error, std::string_view text);

  Sink messages_;
  IssueSink issues_;
  bool fail_fast_;
  bool caches_;
  bool hot_;
  std::vector<uint32_t> everyone_;
  SourceLine source_;  // of the line at hand
  uint32_t files_ = 1;
  uint32_t told_file_ = 0;  // the number of that which workers know of
  uint64_t next_seq_ = 1;
  Exit status_ = Exit::kDone;
  uint64_t lines_ = 0;
  uint64_t decoded_ = 0;
  uint64_t repeated_ = 0;

  TypeNumbers types_;
  Homes homes_;
  HeldLines held_;
  Loads loads_;
  PathOrder paths_;
  RankTable ranks_;
  Meshes meshes_;
  ResultOrder results_;
  Outbox outbox_;
  BlockFinder finder_;
  Round round_;                      // that is coming
  Round last_round_;                 // before it
  bool was_one_ = false;             // last_round_ may come again
  bool is_steady_ = false;           // and no line came since
  std::vector<Outbox::Round> sent_;  // then, what it put into bodies
  Marks marks_;
  Routes routes_;
  Seen seen_;
  Reported reported_;

  // Scratch of the line at hand.
  Line line_;
  NotedPlace at_;
  std::string text_;
  std::string_view came_;
  std::string marked_;  // came_ as the first of a block
  Call call_;
  std::vector<HomeId> found_;  // by operand
  std::vector<const Type*> operand_types_;
  std::vector<Fence> fences_;
  std::vector<uint32_t> here_;
  std::vector<uint32_t> stale_;
  std::vector<uint32_t> near_;
  LineRanks where_;
  const Mesh* mesh_ = nullptr;
  std::string_view space_;
};

}  // namespace gt
