// What a config says (gt-config(5)): the mesh, and, for lines of some signal
// and for tensors of some name, where they run and how they are cut.
//
// Where several entries match a line, each setting is looked for by itself. Of
// the signals, those of the line's scopes from the outermost to the innermost,
// the innermost that says the setting wins; of the ranks, in gt's own form,
// what all of them allow is taken. Over these stands the tensors' entry for the
// name of the line's first result: of several patterns that match, the first in
// the file. The Config keeps count of which entries lines used; shard()
// (shard.h) reports the others at the end of the stream.
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

inline constexpr int64_t kChunksByCost = 0;
inline constexpr int64_t kMostChunks = 1024;

// What the config says of a line or a name; what is absent, it does not say.
struct Scope {
  std::optional<CutSetting> shard;    // of creating lines, and of 2-D weights
                                      // that matmuls read
  std::optional<CutSetting> results;  // of every line
  std::optional<Ranks> ranks;         // where lines run, ascending
  std::optional<bool> compile;
  std::optional<bool> regather;  // gathered copies are not kept
  // How many chunks a product is computed in (chunks.h); kChunksByCost: as many
  // as the estimate of times says.
  std::optional<int64_t> chunks;
  size_t ranks_line = 0;  // of the config, for messages
};

// The cuts of a config that cut some tensor: CutSetting::number, and the axis.
using CutsInUse = std::set<std::pair<size_t, std::string>>;

// How the lines of microbatches are ordered (schedule.h).
enum class ScheduleKind : uint8_t { kGpipe, k1f1b, kZbH1, kZbH2, kZbV };

struct Schedule {
  ScheduleKind kind = ScheduleKind::k1f1b;
  std::string name;    // as the config calls the kind
  int64_t window = 0;  // microbatches that are ordered together; 0: no limit
  size_t line = 0;     // of the config
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
  bool is_optional = false;  // it is no mistake if no line uses it
};

// What is in the file.
struct ConfigFile {
  std::string file;
  // gt's own form, with named axes; else GT's, of one axis "workers".
  bool is_own_form = false;
  bool is_empty = true;
  bool has_mesh = false;  // the file says the mesh, it is not made from -n
  Mesh mesh;
  std::vector<ConfigEntry> signals;
  std::vector<ConfigEntry> tensors;
  Machine machine;
  std::optional<Schedule> schedule;
  bool regather = false;
  int64_t chunks = 1;  // of products of which no entry says it
};

// "machine: {flops: 1e+12}" and LF, with the figures that differ from those of
// the default machine; "" if none do.
std::string machine_yaml(const Machine& machine);

class Config {
 public:
  // `file` is what messages call it; `workers` is -n, 0 if that is not said.
  // Error: "tp2.yaml:7: ...", with a column in that line of the text, which
  // `culprit` becomes.
  static Result<Config> parse(std::string_view text, std::string_view file,
                              int64_t workers,
                              std::string_view* culprit = nullptr);
  // A config that was made, not read. Numbers its settings.
  explicit Config(ConfigFile file);

  // GT's form: one axis, "workers".
  const Mesh& mesh() const { return file_.mesh; }
  bool is_empty() const { return file_.is_empty; }
  bool is_own_form() const { return file_.is_own_form; }
  bool has_mesh() const { return file_.has_mesh; }
  // The line of its first entry for signals or tensors; 0: it has none.
  size_t first_entry() const;
  bool regather() const { return file_.regather; }
  int64_t chunks() const { return file_.chunks; }
  const Machine& machine() const { return file_.machine; }
  const std::optional<Schedule>& schedule() const { return file_.schedule; }
  std::string place(size_t line) const;  // "tp2.yaml:7"

  // What the signals' entries say of a line of this signal, "outer/inner". For
  // each scope the entry counts whose name is the longest end of the scope's
  // path ("inner", "outer/inner"); of a backward line the one that its
  // `backward` names. Marks these as used. Error, with its place: scopes that
  // contradict each other.
  Result<Scope> find(std::string_view signal, bool is_backward) const;
  // The tensors' entry of the first pattern that the name matches, which is
  // marked as used; null: none does.
  const Scope* tensor(std::string_view name) const;

  // A message for each entry that neither of these two found, with its place
  // ("tp2.yaml:7: ..."), optional ones apart. In GT's form, whose files serve
  // several programs, they are warnings, and say so.
  std::vector<std::string> unused() const;
  // The same for entries that lines used, but that say a cut over an axis which
  // is not among `cuts`, those that cut some tensor. In GT's form an entry that
  // says where its lines run has an effect by that.
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

// Merges what the entries of scopes within each other say.
class ScopeMerge {
 public:
  explicit ScopeMerge(const ConfigFile& file) : file_(file) {}
  // Adds the entry of the next scope inwards. Error: it contradicts those
  // outside, without its place.
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
