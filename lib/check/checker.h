// The lines of a stream in order: what they read and bind, and what is wrong
// with them. Equal lines over equal types are looked up.
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
  // `footprint` is told of all values, if there is one.
  explicit Checker(TypingMode mode, Footprint* footprint = nullptr)
      : mode_(std::move(mode)), footprint_(footprint) {}

  // A line as it is checked: its text with the inferred notes, what is wrong.
  struct Checked {
    std::string text;   // as it came
    std::string noted;  // to write
    std::string op;
    std::string at;     // its #at=, where it was written
    std::string trace;  // "op(types) -> type"
    std::vector<Problem> problems;
    std::vector<std::string> remarks;
    std::string place;  // "in:" of the findings
    bool is_unreadable = false;
    Error error;         // why it is
    bool is_new = true;  // not looked up

    struct Use {
      SymbolId name;
      Stamp stamp;  // as it was read, or is to be
    };
    struct Write : Use {
      std::vector<int64_t> ranks;  // where the line binds or frees
    };
    std::vector<Use> reads;
    std::vector<Write> writes;
    std::vector<Transfer> transfers;  // of a copy between ranks
    uint64_t mesh_version = 0;
    bool once = false;  // depends on more than what it reads
  };
  // The next line that is no comment. Valid until the next call.
  const Checked& take(std::string_view text);

  // The names of all axes of the meshes so far.
  const std::set<std::string>& axes() const { return axes_; }

  // For those who write vectors: a name's value out of nothing, and what it is.
  void declare(std::string_view name, const ShardedValue& value);
  const ShardedValue* value_of(std::string_view name);  // its first part
  AxisNames names_of(std::string_view name) const {
    return AxisNames(meshes_.all_of(name));
  }

 private:
  static constexpr size_t kMaxVariants = 8;

  // A line that comes again, as it was checked over other contents.
  struct Known {
    std::string text;
    std::vector<std::unique_ptr<Checked>> variants;
  };

  // A line while it is checked: what it says, the axes of its meshes, and what
  // it reads.
  struct Reading {
    Line line;
    AxisNames names;
    std::vector<std::optional<ShardedValue>> values;  // by operand, of names
    std::vector<const ShardedValue*> operands;        // these; else null
    std::optional<ShardedValue> target;               // what #grad= names
  };

  Checked* find(const Known& known) const;
  bool holds(const Checked& entry) const;
  void keep(uint64_t hash, Known* known);
  void apply(const Checked& entry);
  static void find_transfers(const Reading& in, const LineRanks& where,
                             Checked& entry);
  void check(Reading& in, Checked& entry);
  void note_axes(const Reading& in);
  void check_instruction(Reading& in, Statement statement, Checked& entry);
  // The name, which the line's meaning depends on.
  SymbolId note_read(std::string_view name, Checked& entry);
  bool read_operands(Reading& in, const LineRanks* where, Checked& entry);
  static void fail_unbound(const Operand& operand,
                           const std::vector<int64_t>& ranks, Checked& entry);
  void find_target(Reading& in, const LineRanks* where, Checked& entry);
  void release(const Reading& in, const LineRanks* where, Checked& entry);
  static bool spreads_own_value(const Reading& in);
  void write_results(const Reading& in,
                     const std::vector<ShardedValue>& results, Checked& entry);
  static void annotate(Reading& in, const std::vector<ShardedValue>& results,
                       Checked& entry);
  static void describe(const Reading& in,
                       const std::vector<ShardedValue>& results,
                       Checked& entry);
  static void fail(const char* kind, const Error& error, Checked& entry);

  TypingMode mode_;
  Footprint* footprint_;
  Meshes meshes_;
  std::set<std::string> axes_;
  CheckRegisters registers_;
  LineCache<Known> known_{size_t{1} << 12};
  Checked entry_;
  Reading reading_;  // room for that of one line
};

}  // namespace gt::check
