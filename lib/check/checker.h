// Checks the types of a stream line by line.
//
// The type engine (spmd/infer.h) judges one line: it is given the types of the
// operands, and returns those of the results, and the faults as values. The
// Checker does what a stream needs besides that. It keeps the meshes and what
// every name holds (registers.h), puts each fault in words (words.h) with lines
// that would mend it (remedies.h), and adds the inferred types to the line as
// notes. A line that comes again while all that it reads is as it was is looked
// up and not checked again.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "check/footprint.h"
#include "check/registers.h"
#include "check/words.h"
#include "program/line_cache.h"
#include "spmd/mesh.h"

namespace gt::check {

class Checker {
 public:
  // With `traces`, each line's Checked::trace is filled in. `footprint` may be
  // null; otherwise every value that a name gains or loses is reported to it.
  // It must outlive the Checker.
  explicit Checker(TypingMode mode, bool traces = false,
                   Footprint* footprint = nullptr)
      : mode_(std::move(mode)), traces_(traces), footprint_(footprint) {}

  // The findings about one line. They are kept for when the line comes again.
  struct Checked {
    std::string text;   // as it came
    std::string noted;  // the same with inferred #type= and #spec=
    std::string op;
    std::string at;     // its note #at=, "model.gt:7"; "" without one
    std::string trace;  // "op(types) -> type", if traces are wanted
    std::vector<Problem> problems;
    std::vector<std::string> remarks;
    std::string types;  // of the operands: "y f32[4,2] {tp:P}"
    // True if the line does not parse, or declares a mesh that cannot be;
    // `error` says why.
    bool is_unreadable = false;
    Error error;
    bool is_new = true;  // false if it was looked up, not checked

    struct Use {
      SymbolId name;
      Stamp stamp;  // its type is a Content (registers.h): what the name held,
                    // for a read; what it holds after the line, for a write
    };
    struct Write : Use {
      std::vector<int64_t> ranks;  // where the line binds or frees
    };
    std::vector<Use> reads;
    std::vector<Write> writes;
    std::vector<Transfer> transfers;  // if the line copies between ranks
    uint64_t mesh_version = 0;  // version of the meshes it was checked under
    // True if the line is never looked up, since what it does depends on more
    // than its reads: a declaration of a mesh, a free of a glob.
    bool once = false;
  };
  // Checks the next line of the stream, which must not be a comment, and binds
  // its results. The reference is valid until the next call.
  const Checked& take(std::string_view text);

  // Returns the names of all axes of the meshes so far.
  const std::set<std::string>& axes() const { return axes_; }

  // These are for tools that write test vectors: declare() binds a name without
  // a line, and the others tell what a name holds.
  void declare(std::string_view name, const ShardedValue& value);
  // Returns the first of the name's parts; null if it holds nothing.
  const ShardedValue* value_of(std::string_view name);
  AxisNames names_of(std::string_view name) const {
    return AxisNames(meshes_.all_of(name));
  }

 private:
  // A line while it is checked: its fields, the axes of its meshes, and the
  // values that it reads.
  struct Reading {
    Line line;
    AxisNames names;
    std::vector<std::optional<ShardedValue>> values;  // by operand; empty
                                                      // unless it is a name
    std::vector<const ShardedValue*> operands;  // point into `values`, or null
    std::optional<ShardedValue> target;         // what #grad= names
  };

  bool holds(const Checked& entry) const;
  // True if the entry will never hold again.
  bool is_dead(const Checked& entry) const;
  void apply(const Checked& entry);
  static void find_transfers(const Reading& in, const LineRanks& where,
                             Checked& entry);
  void check(Reading& in, Checked& entry);
  void note_axes(const Reading& in);
  void check_instruction(Reading& in, Statement statement, Checked& entry);
  // Notes that what the line means depends on what the name holds.
  SymbolId note_read(std::string_view name, Checked& entry);
  bool read_operands(Reading& in, const LineRanks* where, Checked& entry);
  void fail_unbound(const Line& line, size_t operand,
                    const std::vector<int64_t>& ranks, Checked& entry) const;
  void find_target(Reading& in, const LineRanks* where, Checked& entry);
  void release(const Reading& in, const LineRanks* where, Checked& entry);
  static bool spreads_own_value(const Reading& in);
  void write_results(const Reading& in,
                     const std::vector<ShardedValue>& results, Checked& entry);
  static void annotate(Reading& in, const std::vector<ShardedValue>& results,
                       Checked& entry);
  static std::string trace_of(const Reading& in,
                              const std::vector<ShardedValue>& results);
  static std::string types_of(const Reading& in);
  static void fail(const char* kind, const Error& error, Checked& entry);

  TypingMode mode_;
  bool traces_;
  Footprint* footprint_;
  Meshes meshes_;
  std::set<std::string> axes_;
  CheckRegisters registers_;
  LineCache<Checked> known_{size_t{1} << 12};
  Checked entry_;
  Reading reading_;  // reused from line to line
};

}  // namespace gt::check
