// Reads a config (config.h) from YAML text, in gt's own form or in GT's.
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shard/config.h"
#include "shard/yaml.h"

namespace gt::shard {

// Reads a config and sets all of `out` except the name of the file. `workers`
// is the number that -n gives, or 0 without -n. Returns the first fault, or
// nothing if the text is a valid config.
std::optional<YamlFault> read_config(std::string_view text, int64_t workers,
                                     ConfigFile& out);

inline bool is_one_of(const std::vector<std::string_view>& keys,
                      std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// Returns true if a tensor can have that dimension, which may be counted from
// the end.
inline bool is_dim(int64_t dim) {
  constexpr auto kDims = static_cast<int64_t>(Shape::kMaxRank);
  return dim >= -kDims && dim < kDims;
}

// Reads the tree of a config. The first fault ends the reading: the function
// that finds it sets fault(), and this function and all its callers return
// false.
class ConfigReader {
 public:
  ConfigReader(int64_t workers, ConfigFile& out)
      : workers_(workers), out_(out) {}
  bool read(const YamlNode& root);
  const YamlFault& fault() const { return fault_; }

 private:
  using Keys = std::vector<std::string_view>;
  using ReadKey =
      std::function<bool(const YamlNode& key, const YamlNode& value)>;
  using ReadEntry = bool (ConfigReader::*)(const YamlNode& value,
                                           ConfigEntry& entry);
  using Axes = std::vector<std::pair<std::string, int64_t>>;

  bool fail(const YamlNode& at, const std::string& what);
  // Fails at the node if the status is an error.
  bool holds(const Status& status, const YamlNode& at) {
    return status.ok() || fail(at, status.error().message);
  }
  bool expected(const YamlNode& at, std::string_view what);
  bool unknown_key(const YamlNode& key, const Keys& known,
                   const std::string& hint = "");
  bool unknown_word(const YamlNode& at, const Keys& known);
  // Calls read_key for each key of the map and its value. Fails if the node is
  // not a map; then the message shows `example` as what was expected.
  bool each(const YamlNode& map, std::string_view example,
            const ReadKey& read_key);

  // Defined in config_reader.cc: the two forms.
  bool read_own(const YamlNode& root);
  bool read_own_key(const YamlNode& key, const YamlNode& value);
  bool read_setting(std::string_view key, const YamlNode& value);
  bool read_gt(const YamlNode& root);
  bool foreign_key(const YamlNode& key, const YamlNode& value);
  bool read_mesh(const YamlNode& value);
  bool default_mesh(const YamlNode& root);
  bool all_workers(const YamlNode& root);
  bool make_mesh(const YamlNode& at, const Axes& axes);
  bool check_backward();

  // Defined in config_entries.cc: the settings of an entry.
  bool read_entries(const YamlNode& value, std::vector<ConfigEntry>& out,
                    ReadEntry how);
  bool read_entry(const YamlNode& key, const YamlNode& said,
                  std::vector<ConfigEntry>& out, ReadEntry how);
  bool read_gt_entry(const YamlNode& value, ConfigEntry& entry);
  bool read_gt_shard(const YamlNode& value, ConfigEntry& entry);
  bool read_signal(const YamlNode& value, ConfigEntry& entry);
  bool read_tensor(const YamlNode& value, ConfigEntry& entry);
  bool read_own_setting(const YamlNode& key, const YamlNode& value,
                        ConfigEntry& entry);
  bool read_split(const YamlNode& key, const YamlNode& value,
                  std::optional<CutSetting>& setting);
  bool read_cut(const YamlNode& axis, const YamlNode& value,
                std::vector<SplitEntry>& split);
  bool check_alone(const YamlNode& value, const ConfigEntry& entry);
  bool read_on(const YamlNode& key, const YamlNode& value, ConfigEntry& entry);
  Ranks ranks_on(const std::vector<ConfigEntry::Limit>& on) const;
  bool read_workers(const YamlNode& key, const YamlNode& value,
                    ConfigEntry& entry);
  bool add_ranks(const YamlNode& key, Ranks ranks, ConfigEntry& entry);

  // Defined in config_values.cc: single values.
  bool read_machine(const YamlNode& value);
  bool read_schedule(const YamlNode& value);
  bool read_bool(const YamlNode& value, bool& out);
  bool read_chunks(const YamlNode& value, int64_t& out);
  bool read_recompute(const YamlNode& value, Scope& scope);
  bool read_dtype(const YamlNode& value, Dtype& out);  // f32 or a half
  bool read_dim(const YamlNode& value, int64_t& dim);
  // Reads one number, a list of numbers, or numbers spelled as a rank set
  // ("0-3"). Sets `out` to them in ascending order. Fails unless each of them
  // is at least 0 and below `end`, and none stands twice.
  bool read_numbers(const YamlNode& value, const std::string& what, int64_t end,
                    Ranks& out);
  bool add_numbers(const YamlNode& value, const std::string& what, int64_t end,
                   Ranks& out);

  const int64_t workers_;
  ConfigFile& out_;
  YamlFault fault_;
  std::string context_;         // the beginning of a fault's message
  bool is_number_said_ = true;  // -n or the file says how many
  size_t ranks_ = 0;            // ranks that all entries together name
  // The values of backward: settings, each with the index of its signal.
  std::vector<std::pair<size_t, const YamlNode*>> backward_;
};

}  // namespace gt::shard
