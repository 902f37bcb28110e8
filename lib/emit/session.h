// The client layer: checks a program line by line and writes the stream.
//
// A session knows the type of every live name and the history behind it. It
// writes each line as soon as it is read; what it adds (aliases of values that
// a history needs, gradients, frees of its own names) stands right beside.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/exit.h"
#include "base/message.h"
#include "emit/ledger.h"
#include "file/safetensors_cache.h"
#include "grad/reverse.h"
#include "grad/tape.h"
#include "grad/type_ids.h"
#include "ops/call.h"
#include "spmd/placed.h"
#include "stream/line.h"
#include "stream/pattern.h"
#include "stream/replay.h"

namespace gt {

struct EmitOptions {
  std::string program = "gt-emit";
  bool at = true;  // write #at= for lines read from files
  bool fail_fast = false;
  bool tape = false;  // print histories in place of the stream
  int64_t seed = 0;   // of the register that stands in for absent seeds
  size_t history = 1'000'000;  // lines of history kept
};

class Session : public Rewriter {
 public:
  // `say` gets whole messages for people; they end in LF.
  Session(EmitOptions options, std::function<void(std::string_view)> say);

  // Inputs are named once; "<stdin>" and "-e" lines get #at= only by at_stdin.
  uint32_t add_file(std::string_view name, bool at);
  const std::string& file_name(uint32_t file) const {
    return files_[file].name;
  }

  // Checks one line and appends what becomes of it to `out`.
  void feed(std::string_view line, Origin origin, std::string& out);
  // A line that Reader dropped.
  void reject_long(std::string_view head, Origin origin, std::string& out);
  // Between "#gt" and "#end": the stream has been emitted before.
  void set_emitted(bool emitted) { ledger_.emitted = emitted; }

  // End of input: with --tape, what is left of the history.
  void finish();
  // Histories printed so far, with --tape.
  std::string take_tape() { return std::exchange(tape_text_, {}); }

  Exit status() const { return status_; }
  bool stopped() const { return options_.fail_fast && status_ != Exit::kDone; }

  // What a later line can depend on, line numbers apart, as one text; places
  // are visited in the same order. Two sessions with equal states write the
  // same for the same input.
  void state(std::string& text, const PlaceVisitor& visit) override;
  // Names and values that state() would go through.
  size_t state_size() const override { return ledger_.tape.value_limit(); }
  // Messages said so far: a round that said something is not like another.
  size_t messages() const override { return messages_; }

 private:
  struct File {
    std::string name;
    bool at;
  };
  // What a plain line of one pattern is to the session, as long as its operands
  // have these types.
  struct Memo {
    uint64_t seen = 0;  // hash of the last pattern that came by here
    std::string key;
    bool emitted = false;
    const Op* op = nullptr;
    std::vector<bool> is_name;          // by operand
    std::vector<TypeId> operand_types;  // of the names among them
    std::vector<TypeId> result_types;
    std::vector<uint8_t> differentiable;
    FormId form = kNil;  // which it holds; kNil: no history
    uint32_t file = 0;
  };

  bool feed_memo(std::string_view line, Origin origin, const Memo& memo,
                 std::string& out);
  bool resolve_memo(const Memo& memo);
  void remember(Memo& memo, Origin origin);

  // The kinds of line.
  void instruction(Origin origin, std::string& out);
  void plain(Origin origin, std::string& out);
  void free_names(Origin origin, std::string& out);
  struct Freed {
    std::string name;
    Ranks ranks;
    std::string text;  // of the ranks
  };
  Status collect_freed(std::vector<SymbolId>& unplaced,
                       std::vector<Freed>& placed);
  void bind_fail(Origin origin, std::string& out);
  void declare(Origin origin, std::string& out);

  // The same of lines with ranks.
  void placed(Origin origin, std::string& out);
  void placed_plain(Origin origin, std::string& out);
  void redistribute(Origin origin, std::string& out);
  void placed_output(Origin origin, std::string& out);
  bool resolve_pieces(Origin origin, std::string& out);
  std::optional<Grid> read_pieces(Origin origin, std::string& out);
  Error unknown_piece(const Operand& operand, const Ranks& missing) const;
  Status complete_placed(std::string& out);
  const Type* piece_type(size_t operand, int64_t rank) const;
  Status join_operands(Origin origin);
  ValueId join_operand(size_t operand, Origin origin);
  void settle_joined(Origin origin);
  void note_placed_save(const std::vector<Type>& saved);

  // Looks operands up; false when the line failed (and was answered).
  bool resolve(Origin origin, std::string& out);
  void pass_failed(Origin origin, std::string& out);
  Status check_results() const;
  Status complete(std::string& out);
  Status complete_load();
  void note_saved();

  // Seeds that are left out. A program may name the register that counts them:
  // what it saves of it and loads later continues the count.
  static constexpr std::string_view kSeedName = "_eseed";
  bool names_seed() const;
  Status check_seed(const std::vector<Type>& results) const;
  Status check_placed_seed(const std::vector<PlacedType>& results) const;
  void let_go_seed(std::string_view name, std::string_view ranks);
  std::string first_seed(bool is_second) const;
  void begin_seeds(std::string& out);
  void hold_seed(SymbolId seed, Origin origin);
  void let_go_seed(ValueId seed);
  void advance_seed(Origin origin, std::string& out);
  void begin_placed_seeds(const Ranks& wanted, std::string& out);
  void keep_seed(const Ranks& ranks, std::string& out);
  void count_seed(Origin origin, std::string& out);

  // Failure.
  void reject(const Error& error, Origin origin, std::string& out);
  void fail_results(const std::string& message, Origin origin,
                    std::string& out);
  void bind_failed(const Name& name, const std::string& message, Origin origin,
                   std::string& out);
  void output_failure(const std::string& message, Origin origin,
                      std::string& out);
  void report(const Error& error, Origin origin);
  void warn(const std::string& message, Origin origin);

  // Names and values.
  void record(const Call& call, Origin origin);
  void record_typed(const Call& call, Origin origin);
  void drop_form();
  bool add_results(const Call& call);
  void bind_results(Origin origin);
  void find_needed(const Call& call);
  void limit_history(Origin origin);
  void warn_history(NodeId oldest, Origin origin);

  void write_line(Origin origin, std::string& out);
  void write_tail(Origin origin, std::string& out);
  std::string at_note(Origin origin) const;

  // grad.
  struct Targets {
    ValueId loss = kNil;
    std::vector<GradientTarget> values;
    bool retain = false;
  };
  void grad(Origin origin, std::string& out);
  Status grad_targets(Targets& targets, Origin origin);
  Status grad_ranks();
  Status grad_form(Targets& targets) const;
  void write_gradient(const GradientProgram& program, const Targets& targets,
                      Origin origin, std::string& out);
  bool holds_ranks(const GradientOperand& operand,
                   const std::string& ranks) const;
  Status check_target(size_t operand, const GradientTarget& target) const;
  Status check_loss(const Operand& loss, ValueId value) const;
  struct Untyped;
  Untyped find_untyped(ValueId loss, const MeshAxis& axis) const;
  std::string remedy(const Operand& loss, ValueId value, const MeshAxis& axis,
                     char letter) const;
  Status explain_lost(const LostTarget& lost) const;
  // Values behind a loss that names held until they were bound again: whose
  // history went with the name, and the others by that name without its ranks.
  struct Rebound {
    std::vector<ValueId> ends;
    std::unordered_map<std::string_view, std::vector<ValueId>> by_name;
  };
  Rebound rebound_behind(ValueId loss) const;
  Status check_rebound(const Targets& targets, size_t target,
                       const Rebound& behind) const;
  Error explain_rebound(const Lost& rebound, ValueId loss, uint64_t bound,
                        uint32_t column) const;
  Status check_held(const GradientProgram& program) const;
  class GradientWriter;
  friend class GradientWriter;
  void print_tape(std::span<const NodeId> nodes, std::string& out) const;
  std::string place_of(Origin origin) const;

  EmitOptions options_;
  std::function<void(std::string_view)> say_;
  std::vector<File> files_;
  Ledger ledger_;
  std::unordered_map<std::string, Type> saved_;  // types by path
  SafetensorsCache headers_;
  bool warned_history_ = false;
  Exit status_ = Exit::kDone;
  size_t messages_ = 0;

  // Scratch of the line at hand.
  std::string_view text_;
  Line line_;
  Call call_;
  std::vector<SymbolId> operand_symbols_;
  std::vector<ValueId> operand_values_;
  std::vector<const Type*> operand_types_;
  std::vector<ValueId> result_values_;
  std::vector<TypeId> result_types_;
  std::vector<uint8_t> differentiable_;
  std::vector<uint32_t> needed_operands_;
  std::vector<uint32_t> needed_results_;
  FormId form_ = kNil;  // of the line on the tape; kNil: it has none
  bool memorable_ = false;
  std::string before_;
  std::string line_out_;
  std::string tape_text_;
  std::string completion_;  // text that completes the line, kept alive
  Pattern pattern_;
  std::vector<Memo> memos_;
  // The same of a line with ranks.
  LineRanks where_;
  const Mesh* mesh_ = nullptr;
  std::vector<Ledger::PieceReads> reads_;  // by operand
  std::vector<ValueId> joined_;            // values put together for the line
  std::deque<std::string> added_;          // names of results that we add
  std::vector<std::string> steps_;         // that a line is written as
  std::string added_ranks_;                // of an operand that we add
};

}  // namespace gt
