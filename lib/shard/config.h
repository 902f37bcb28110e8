// What a config says (gt-config(5)): the mesh, and for signals and names where
// their lines run and how their tensors are cut.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "spmd/machine.h"
#include "spmd/mesh.h"
#include "spmd/rank_set.h"
#include "spmd/split.h"

namespace gt::shard {

// What shard: or results: says. Without cuts: a copy on every rank.
struct CutSetting {
  std::vector<SplitEntry> cuts;
  size_t line = 0;    // of the config
  size_t number = 0;  // among all of the config
};

// What holds for a line or a name; what is absent, nobody said.
struct Scope {
  std::optional<CutSetting> shard;    // of creating lines, and of 2-D weights
                                      // that matmuls read
  std::optional<CutSetting> results;  // of every line
  std::optional<Ranks> ranks;         // where lines run, ascending
  std::optional<bool> compile;
  std::optional<bool> regather;  // gathered copies are not kept
  size_t ranks_line = 0;         // of the config, for messages
};

// Cuts of a config that cut something: a setting's number, and the axis.
using CutsInUse = std::set<std::pair<size_t, std::string>>;

struct Schedule {
  std::string kind;
  int64_t window = 0;  // microbatches; 0: not said
  size_t line = 0;
};

// One entry of signals or tensors.
struct ConfigEntry {
  struct Limit {  // on: {axis: coordinates}, ascending
    std::string axis;
    Ranks coordinates;
  };
  std::string name;  // of a signal, or a pattern of names
  size_t line = 0;
  Scope scope;
  std::vector<Limit> on;
  std::string backward;      // the entry that #bwd lines take in its place
  bool is_optional = false;  // that no line uses it is no mistake
};

// What is in the file.
struct ConfigFile {
  std::string file;
  bool is_own_form = false;  // else GT's, where the innermost workers: wins
  bool is_empty = true;
  bool has_mesh = false;  // it is said, not made up from -n
  Mesh mesh;
  std::vector<ConfigEntry> signals;
  std::vector<ConfigEntry> tensors;
  Machine machine;
  std::optional<Schedule> schedule;
  bool regather = false;
};

// "machine: {flops: 1e+12}" and LF, of what differs from the machine that is
// taken where nothing is said; "" of that.
std::string machine_yaml(const Machine& machine);

class Config {
 public:
  // `file` is what messages call it; `workers` is -n, 0 if that is not said.
  // Error: "tp2.yaml:7: ..."; its column is one of `culprit`, that line.
  static Result<Config> parse(std::string_view text, std::string_view file,
                              int64_t workers,
                              std::string_view* culprit = nullptr);
  // What such a file would say; its settings are numbered here.
  explicit Config(ConfigFile file);

  // GT's form: one axis, "workers".
  const Mesh& mesh() const { return file_.mesh; }
  bool is_empty() const { return file_.is_empty; }
  bool is_own_form() const { return file_.is_own_form; }
  bool has_mesh() const { return file_.has_mesh; }
  // The line of its first entry for signals or tensors; 0: it has none.
  size_t first_entry() const;
  bool regather() const { return file_.regather; }
  const Machine& machine() const { return file_.machine; }
  const std::optional<Schedule>& schedule() const { return file_.schedule; }
  std::string place(size_t line) const;  // "tp2.yaml:7"

  // What holds for a line of this signal, "outer/inner": of each setting, what
  // the innermost scope says that says anything; places narrow each other.
  // Error, with its place: scopes that contradict each other.
  Result<Scope> find(std::string_view signal, bool is_backward) const;
  // The first pattern that the name matches; null: none does.
  const Scope* tensor(std::string_view name) const;

  // Entries that neither found, a message each, with its place; but for those
  // that are optional. In GT's form, whose files serve several programs, they
  // are warnings, and say so.
  std::vector<std::string> unused() const;
  // The same of entries that lines took, and of whose cuts over an axis none is
  // among these. In GT's form one that says where its lines run has an effect.
  std::vector<std::string> without_effect(const CutsInUse& cuts) const;

 private:
  static constexpr size_t kMaxSilent = 200;

  const ConfigEntry* entry_of(std::string_view path) const;
  const ConfigEntry* use(const ConfigEntry& entry, bool is_backward) const;
  std::string message_at(size_t line) const;
  bool places_lines(const ConfigEntry& entry) const;
  void add_without_effect(const ConfigEntry& entry, const std::string& what,
                          const CutsInUse& cuts,
                          std::vector<std::string>& messages) const;

  ConfigFile file_;
  std::unordered_map<std::string, size_t, TextHash, std::equal_to<>> by_name_;
  size_t most_slashes_ = 0;  // in an entry's name
  mutable std::vector<bool> used_signals_;
  mutable std::vector<bool> taken_signals_;  // by a line, forward or backward
  mutable std::vector<bool> used_tensors_;
  // Scopes and names that have no entry, some of them: what a misspelt entry
  // may have meant.
  using Names = std::unordered_set<std::string, TextHash, std::equal_to<>>;
  mutable Names silent_;
  mutable Names silent_tensors_;
};

// Adds what a scope within says. Error: a contradiction, without its place.
class ScopeMerge {
 public:
  explicit ScopeMerge(const ConfigFile& file) : file_(file) {}
  Status add(const ConfigEntry& inner);
  const Scope& scope() const { return scope_; }

 private:
  Status narrow(const ConfigEntry& inner);
  Status check_cuts(const ConfigEntry& inner) const;

  const ConfigFile& file_;
  Scope scope_;
  std::vector<const ConfigEntry*> outer_;
};

}  // namespace gt::shard
