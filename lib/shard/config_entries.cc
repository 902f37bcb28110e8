// Reads the entries under signals: and tensors:, and those of GT's form.
#include <utility>

#include "base/message.h"
#include "shard/config_reader.h"
#include "stream/line.h"
#include "stream/ranks.h"

namespace gt::shard {
namespace {

// The most ranks that all entries may name together. It is bounded because one
// entry can name 65536 ranks in seven letters.
constexpr size_t kMaxEntryRanks = size_t{1} << 22;

// Return the setting of that key that is true or false, or a dtype; null: there
// is none.
std::optional<bool>* flag_of(Scope& scope, std::string_view key) {
  if (key == "compile") return &scope.compile;
  if (key == "regather") return &scope.regather;
  return key == "ring" ? &scope.ring : nullptr;
}
std::optional<Dtype>* dtype_of(Scope& scope, std::string_view key) {
  if (key == "sums") return &scope.sums;
  return key == "precision" ? &scope.precision : nullptr;
}

bool is_gt_key(std::string_view key) {
  return key == "axis" || key == "workers" || key == "replicated";
}

// The settings of an entry, those of one in GT's form, and those that only a
// signal has.
const std::vector<std::string_view> kKeys = {
    "shard", "results", "on",   "workers",   "backward",  "compile", "regather",
    "ring",  "chunks",  "sums", "precision", "recompute", "optional"};
const std::vector<std::string_view> kGtKeys = {
    "shard", "workers",   "backward",  "compile",
    "sums",  "precision", "recompute", "optional"};
const std::vector<std::string_view> kSignalKeys = {
    "backward", "compile", "ring", "chunks", "sums", "precision", "recompute"};

}  // namespace

bool ConfigReader::read_entries(const YamlNode& value,
                                std::vector<ConfigEntry>& out, ReadEntry how) {
  context_ = &out == &out_.tensors ? "tensors: " : "signals: ";
  return each(value, "{colpar: {shard: ...}}",
              [&](const YamlNode& key, const YamlNode& said) {
                return read_entry(key, said, out, how);
              });
}

bool ConfigReader::read_entry(const YamlNode& key, const YamlNode& said,
                              std::vector<ConfigEntry>& out, ReadEntry how) {
  context_ = (&out == &out_.tensors ? "tensor '" : "signal '") +
             excerpt(key.text) + "': ";
  ConfigEntry& entry = out.emplace_back();
  entry.name = key.text;
  entry.line = key.line;
  return (this->*how)(said, entry);
}

// ---- GT's form --------------------------------------------------------------

bool ConfigReader::read_gt_entry(const YamlNode& value, ConfigEntry& entry) {
  return each(value, "{shard: {axis: 1, workers: [0, 1]}}",
              [&](const YamlNode& key, const YamlNode& said) {
                if (key.text == "shard") return read_gt_shard(said, entry);
                return is_one_of(kGtKeys, key.text)
                           ? read_own_setting(key, said, entry)
                           : unknown_key(key, kGtKeys);
              });
}

bool ConfigReader::read_gt_shard(const YamlNode& value, ConfigEntry& entry) {
  int64_t dim = 0;
  bool is_replicated = false;
  const YamlNode* axis = nullptr;
  const YamlNode* workers = nullptr;
  const bool is_read =
      each(value, "{axis: 1, workers: [0, 1]}",
           [&](const YamlNode& key, const YamlNode& said) {
             if (key.text == "axis") {
               axis = &key;
               return read_dim(said, dim);
             }
             if (key.text == "workers") {
               workers = &said;
               return read_workers(key, said, entry);
             }
             if (key.text == "replicated")
               return read_bool(said, is_replicated);
             return unknown_key(key, {"axis", "workers", "replicated"},
                                " (named axes need a mesh:)");
           });
  if (!is_read) return false;
  entry.scope.shard.emplace().line = value.line;
  // GT's own files write axis: 0, which is the default, together with
  // replicated: true.
  if (is_replicated && dim != 0) {
    return fail(*axis,
                "shard: axis: " + std::to_string(dim) +
                    " cuts what replicated: true copies whole; leave out one");
  }
  if (is_replicated) return true;
  if (!is_number_said_) {
    return fail(value,
                "shard: over all workers, but nothing says how many there are; "
                "name them in workers:, or give -n");
  }
  // A single number may be meant as the number of workers.
  const bool is_number = workers != nullptr && entry.scope.ranks &&
                         workers->kind == YamlNode::Kind::kScalar;
  if (is_number && entry.scope.ranks->size() == 1 && out_.mesh.size() > 1) {
    return fail(*workers, "shard: cuts nothing on worker " + workers->text +
                              " alone; workers: names them, such as [0, 1], "
                              "and -n says how many there are; write [" +
                              workers->text + "] if that one is meant");
  }
  entry.scope.shard->cuts.push_back({"workers", dim, 1});
  return true;
}

// ---- gt's own form ----------------------------------------------------------

bool ConfigReader::read_signal(const YamlNode& value, ConfigEntry& entry) {
  return each(value, "{shard: {tp: 1}}",
              [&](const YamlNode& key, const YamlNode& said) {
                return read_own_setting(key, said, entry);
              }) &&
         check_alone(value, entry);
}

bool ConfigReader::read_tensor(const YamlNode& value, ConfigEntry& entry) {
  if (!is_name(entry.name) && !is_glob(entry.name)) {
    return fail(value, "is no name, nor names with '*' such as w*");
  }
  return each(value, "{shard: {tp: 1}}",
              [&](const YamlNode& key, const YamlNode& said) {
                if (is_one_of(kSignalKeys, key.text)) {
                  return fail(key, key.text + " is said of signals only");
                }
                return read_own_setting(key, said, entry);
              }) &&
         check_alone(value, entry);
}

bool ConfigReader::read_own_setting(const YamlNode& key, const YamlNode& value,
                                    ConfigEntry& entry) {
  Scope& scope = entry.scope;
  if (key.text == "shard") return read_split(key, value, scope.shard);
  if (key.text == "results") return read_split(key, value, scope.results);
  if (key.text == "on") return read_on(key, value, entry);
  if (key.text == "workers") return read_workers(key, value, entry);
  if (auto* flag = flag_of(scope, key.text)) {
    return read_bool(value, flag->emplace());
  }
  auto* const dtype = dtype_of(scope, key.text);
  if (dtype != nullptr) return read_dtype(value, dtype->emplace());
  if (key.text == "chunks") return read_chunks(value, scope.chunks.emplace());
  if (key.text == "recompute") return read_recompute(value, scope);
  if (key.text == "optional") return read_bool(value, entry.is_optional);
  if (key.text != "backward") return unknown_key(key, kKeys);
  if (value.kind == YamlNode::Kind::kNull) return true;
  if (value.kind != YamlNode::Kind::kScalar || value.text.empty()) {
    return expected(value, "the entry that backward lines take");
  }
  if (value.text == entry.name) {
    return fail(value,
                "backward: names the entry itself, which backward lines take "
                "anyway; leave it out");
  }
  entry.backward = value.text;
  backward_.emplace_back(out_.signals.size() - 1, &value);
  return true;
}

// Fails if the entry contradicts itself. Contradictions with the scopes around
// it are found later, for a line that has such scopes.
bool ConfigReader::check_alone(const YamlNode& value,
                               const ConfigEntry& entry) {
  return holds(ScopeMerge(out_).add(entry), value);
}

bool ConfigReader::read_split(const YamlNode& key, const YamlNode& value,
                              std::optional<CutSetting>& setting) {
  setting.emplace().line = key.line;
  return each(value, "{tp: 1}, or {} for a copy on every rank",
              [&](const YamlNode& axis, const YamlNode& dim) {
                return read_cut(axis, dim, setting->cuts);
              });
}

bool ConfigReader::read_cut(const YamlNode& axis, const YamlNode& value,
                            std::vector<SplitEntry>& split) {
  const auto known = out_.mesh.resolve(axis.text);
  if (!known.ok()) {
    return fail(axis, known.error().message +
                          (is_gt_key(axis.text) ? "; that key is of GT's form, "
                                                  "which has no mesh:"
                                                : ""));
  }
  std::string all = axis.text;
  for (const SplitEntry& other : split) all += "+" + other.axis;
  if (const auto axes = out_.mesh.resolve(all); !axes.ok()) {
    return fail(axis, axes.error().message + ": it can cut a tensor once");
  }
  const auto cut = parse_split(axis.text + ":" + value.text);
  if (!cut.ok() || cut.value().size() != 1 || !is_dim(cut.value()[0].dim)) {
    return expected(value, "the dimension that " + axis.text +
                               " cuts, such as 1, -1, or 1*64 in units of 64");
  }
  split.push_back(cut.value()[0]);
  return true;
}

// ---- where lines run --------------------------------------------------------

bool ConfigReader::read_on(const YamlNode& key, const YamlNode& value,
                           ConfigEntry& entry) {
  const bool is_read =
      each(value, "{pp: 1}", [&](const YamlNode& name, const YamlNode& said) {
        const MeshAxis* axis = nullptr;
        for (const MeshAxis& a : out_.mesh.axes()) {
          if (a.name == name.text) axis = &a;
        }
        if (axis == nullptr) {
          // The message of this error lists the axes of the mesh.
          const auto none = out_.mesh.resolve(name.text);
          return fail(name, none.ok() ? "on: takes one axis a key"
                                      : none.error().message);
        }
        ConfigEntry::Limit limit{axis->name, {}};
        if (!read_numbers(said, "coordinates", axis->size, limit.coordinates)) {
          return false;
        }
        // An axis of one rank limits nothing.
        if (axis->size > 1) entry.on.push_back(std::move(limit));
        return true;
      });
  return is_read && add_ranks(key, ranks_on(entry.on), entry);
}

Ranks ConfigReader::ranks_on(const std::vector<ConfigEntry::Limit>& on) const {
  Ranks ranks;
  for (int64_t rank = 0; rank < out_.mesh.size(); ++rank) {
    bool is_there = true;
    for (const ConfigEntry::Limit& limit : on) {
      for (const MeshAxis& axis : out_.mesh.axes()) {
        if (axis.name != limit.axis) continue;
        is_there &=
            includes(limit.coordinates, {rank / axis.stride % axis.size});
      }
    }
    if (is_there) ranks.push_back(rank);
  }
  return ranks;
}

// A value of null stands for all ranks.
bool ConfigReader::read_workers(const YamlNode& key, const YamlNode& value,
                                ConfigEntry& entry) {
  Ranks ranks;
  if (value.kind == YamlNode::Kind::kNull) {
    ranks = ranks_on({});
  } else if (!read_numbers(value, "workers", out_.mesh.size(), ranks)) {
    return false;
  }
  return add_ranks(key, std::move(ranks), entry);
}

// Adds ranks to an entry. An entry may say its ranks twice: in GT's form within
// shard: and outside of it, in gt's own by on: and workers:. Then both must
// agree, in GT's form exactly, in gt's own by having ranks in common, which are
// taken.
bool ConfigReader::add_ranks(const YamlNode& key, Ranks ranks,
                             ConfigEntry& entry) {
  ranks_ += ranks.size();
  if (ranks_ > kMaxEntryRanks) {
    return fail(key, "the entries name more than " +
                         std::to_string(kMaxEntryRanks) + " ranks in all");
  }
  Scope& scope = entry.scope;
  if (scope.ranks) {
    const Ranks both = common(*scope.ranks, ranks);
    if (both.empty() || (!out_.is_own_form && *scope.ranks != ranks)) {
      return fail(key, "ranks " + to_string(ranks) + " here, but " +
                           to_string(*scope.ranks) + " in line " +
                           std::to_string(scope.ranks_line));
    }
    ranks = both;
  }
  scope.ranks = std::move(ranks);
  scope.ranks_line = key.line;
  return true;
}

}  // namespace gt::shard
