// Holds what a config says (gt-config(5)): the mesh, and where lines run and
// how their tensors are cut. Entries under signals: speak of all lines of a
// signal, entries under tensors: of the lines whose first result has a matching
// name.
//
// If several entries match a line, each setting is looked up separately. Among
// the entries for the line's signal and the scopes around it, the innermost one
// that has the setting wins. Ranks are an exception in gt's own form: there a
// line runs on the ranks that all of these entries allow. The entry under
// tensors: overrides all of them; if several patterns match the name, the first
// in the file is taken. The Config records which entries lines used; shard()
// (shard.h) reports the others at the end of the stream.
#pragma once

#include <algorithm>
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
#include "shard/schedule_kinds.h"
#include "spmd/machine.h"
#include "spmd/mesh.h"
#include "spmd/rank_set.h"
#include "spmd/split.h"
#include "stream/dtype.h"

namespace gt::shard {

// How a shard: or results: setting cuts a tensor. If there are no cuts, every
// rank gets a whole copy.
struct CutSetting {
  std::vector<SplitEntry> cuts;
  size_t line = 0;    // line of the config file
  size_t number = 0;  // its index among all settings of the config
};

inline constexpr int64_t kChunksByCost = 0;
inline constexpr int64_t kMostChunks = 1024;

// Whether the backward computes the results of lines again (gt-emit(1), "Values
// that are computed again").
struct RecomputeSetting {
  bool all = false;              // those of all lines,
  std::vector<std::string> ops;  // or of lines with these ops
  size_t line = 0;               // line of the config file

  bool wants(std::string_view op) const {
    return all || std::find(ops.begin(), ops.end(), op) != ops.end();
  }
};

// What the config says about a line or a name. A setting that the config does
// not mention is empty.
struct Scope {
  // For lines that create a tensor, and for weights that products read.
  std::optional<CutSetting> shard;
  std::optional<CutSetting> results;  // for the results of every line
  std::optional<Ranks> ranks;         // the ranks on which lines run, ascending
  std::optional<bool> compile;
  std::optional<bool> regather;  // true: gathered copies are not kept
  std::optional<bool> ring;      // true: attention as a ring (ring.h)
  // The number of chunks in which a product is computed (chunks.h). For
  // kChunksByCost the estimate of times decides.
  std::optional<int64_t> chunks;
  // The dtype in which ranks send the sums that products of f16 and bf16 owe,
  // and those of gradients. f32: in full.
  std::optional<Dtype> sums;
  // The dtype in which products of f32 read their operands (precision.h).
  std::optional<Dtype> precision;
  std::optional<RecomputeSetting> recompute;
  // The scope that says recompute, as "outer/inner": a region of lines.
  std::string region;
  size_t ranks_line = 0;  // line of the config that says the ranks
};

// The cuts of a config that did cut some tensor. Each is named by its
// CutSetting::number and its axis.
using CutsInUse = std::set<std::pair<size_t, std::string>>;

// How the lines of microbatches are ordered (schedule.h).
struct Schedule {
  const ScheduleKind* kind = nullptr;
  int64_t window = 0;  // microbatches ordered together; 0: no limit
  size_t line = 0;     // line of the config file
};

// One entry under signals: or tensors:.
struct ConfigEntry {
  struct Limit {  // one axis of on:; its coordinates ascend
    std::string axis;
    Ranks coordinates;
  };
  std::string name;  // the signal, or a pattern of tensor names
  size_t line = 0;
  Scope scope;
  std::vector<Limit> on;
  std::string backward;      // entry that #bwd lines use instead
  bool is_optional = false;  // true: no line has to use it
};

// The contents of a config file.
struct ConfigFile {
  std::string file;
  // True for gt's own form, which has named axes. False for GT's form, whose
  // only axis is called "workers".
  bool is_own_form = false;
  bool is_empty = true;
  bool has_mesh = false;  // false: the mesh was made from -n
  Mesh mesh;
  std::vector<ConfigEntry> signals;
  std::vector<ConfigEntry> tensors;
  Machine machine;
  std::optional<Schedule> schedule;
  bool regather = false;
  bool ring = false;
  bool overlap = true;
  int64_t chunks = 1;        // for products whose entries do not say it
  Dtype sums = Dtype::kF32;  // likewise
  Dtype precision = Dtype::kF32;
};

// Returns a line such as "machine: {flops: 1e+12}" with LF. It has the figures
// that differ from those of the default machine; if none do, the result is "".
std::string machine_yaml(const Machine& machine);

class Config {
 public:
  // Reads a config. `file` is its name in messages. `workers` is the number
  // that -n gives, or 0 without -n; with kAnyWorkers, what depends on it is not
  // checked. An error's message begins with its place
  // ("tp2.yaml:7: ..."), and its column refers to that line of the text; if
  // `culprit` is not null, it is set to that line.
  static constexpr int64_t kAnyWorkers = -1;
  static Result<Config> parse(std::string_view text, std::string_view file,
                              int64_t workers,
                              std::string_view* culprit = nullptr);
  // Makes a config from settings that were not read from a file, and numbers
  // them.
  explicit Config(ConfigFile file);

  // Returns the mesh. In GT's form it has one axis, "workers".
  const Mesh& mesh() const { return file_.mesh; }
  bool is_empty() const { return file_.is_empty; }
  bool is_own_form() const { return file_.is_own_form; }
  bool has_mesh() const { return file_.has_mesh; }
  // Returns the line of the first entry under signals: or tensors:, or 0 if
  // there is none.
  size_t first_entry() const;
  bool regather() const { return file_.regather; }
  bool ring() const { return file_.ring; }
  // False: each communication is written where it is needed, so that runs with
  // and without overlap can be compared.
  bool overlap() const { return file_.overlap; }
  // Returns true if gathers are moved to earlier places (gathers_ahead.h).
  bool gathers_ahead() const;
  int64_t chunks() const { return file_.chunks; }
  Dtype sums() const { return file_.sums; }
  Dtype precision() const { return file_.precision; }
  const Machine& machine() const { return file_.machine; }
  const std::optional<Schedule>& schedule() const { return file_.schedule; }
  std::string place(size_t line) const;  // such as "tp2.yaml:7"

  // Returns true if some entry says recompute.
  bool has_recompute() const;

  // Returns what the entries for signals say about a line of this signal, which
  // is a path of scopes ("outer/inner"). Each scope uses the entry whose name
  // is the longest that ends the scope's path ("inner", or "outer/inner"). A
  // backward line uses the entry that the `backward` of that entry names, if it
  // names one. Marks these entries as used. Error: the scopes contradict each
  // other; the message begins with the place in the config.
  Result<Scope> find(std::string_view signal, bool is_backward) const;
  // Returns the settings of the first entry under tensors: whose pattern
  // matches the name, and marks it as used. Null: no pattern matches.
  const Scope* tensor(std::string_view name) const;

  // To be called for a line that a scope wants to be computed again, but that
  // came without the note #recompute; and for a line of the backward of a
  // scope. without_notes() has messages about scopes of which both came: their
  // forward values were kept.
  void note_kept(const RecomputeSetting& setting) const {
    kept_.insert(setting.line);
  }
  void note_backward(const RecomputeSetting& setting) const {
    backward_.insert(setting.line);
  }
  std::vector<std::string> without_notes() const;

  // Returns a message for each entry that neither find() nor tensor() used and
  // that is not optional. Each begins with its place ("tp2.yaml:7: ..."). In
  // GT's form the messages say that they are warnings, since several programs
  // share such a file.
  std::vector<std::string> unused() const;
  // Returns such messages for entries that lines used but that have a cut over
  // an axis which cut no tensor. `cuts` are the cuts that did cut one. In GT's
  // form an entry that places its lines on fewer ranks has an effect by that
  // alone, and gets no message.
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
  size_t most_slashes_ = 0;  // the most '/' in the name of an entry
  mutable std::vector<bool> used_signals_;
  mutable std::vector<bool> taken_signals_;  // a line took their settings
  mutable std::vector<bool> used_tensors_;
  // Some of the scopes and names that have no entry. If an entry is unused, its
  // name may be a misspelling of one of them, which the message then suggests.
  using Names = std::unordered_set<std::string, TextHash, std::equal_to<>>;
  mutable Names silent_;
  mutable Names silent_tensors_;
  mutable std::set<size_t> kept_, backward_;  // lines of recompute settings
};

// Merges the settings of the entries for nested scopes.
class ScopeMerge {
 public:
  explicit ScopeMerge(const ConfigFile& file) : file_(file) {}
  // Adds the entry of the next scope inwards. Error: it contradicts an entry
  // further out. The message does not have the place in the config.
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
