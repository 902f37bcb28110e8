// Reads a config from its YAML, in gt's own form or in GT's (config.h).
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shard/config.h"
#include "shard/yaml.h"

namespace gt::shard {

// Sets all of `out` but its file's name. `workers`: -n, 0 if that is not said.
// Returns the first fault, if there is one.
std::optional<YamlFault> read_config(std::string_view text, int64_t workers,
                                     ConfigFile& out);

// The first fault ends the reading: the function that finds it sets fault(),
// and it and all that called it return false.
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
  bool expected(const YamlNode& at, std::string_view what);
  bool unknown_key(const YamlNode& key, const Keys& known,
                   const std::string& hint = "");
  // Every key with its value. `example` says what the map is to look like.
  bool each(const YamlNode& map, std::string_view example,
            const ReadKey& read_key);

  // config_reader.cc: the two forms.
  bool read_own(const YamlNode& root);
  bool read_own_key(const YamlNode& key, const YamlNode& value);
  bool read_gt(const YamlNode& root);
  bool foreign_key(const YamlNode& key, const YamlNode& value);
  bool read_mesh(const YamlNode& value);
  bool default_mesh(const YamlNode& root);
  bool all_workers(const YamlNode& root);
  bool make_mesh(const YamlNode& at, const Axes& axes);
  bool check_backward();

  // config_entries.cc: what an entry says.
  bool read_entries(const YamlNode& value, std::vector<ConfigEntry>& out,
                    ReadEntry read_entry);
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

  // config_values.cc
  bool read_machine(const YamlNode& value);
  bool read_schedule(const YamlNode& value);
  bool read_bool(const YamlNode& value, bool& out);
  bool read_chunks(const YamlNode& value, int64_t& out);
  bool read_dim(const YamlNode& value, int64_t& dim);
  // One, a list, or as a rank set is spelled; ascending, from 0 to below `end`.
  bool read_numbers(const YamlNode& value, const std::string& what, int64_t end,
                    Ranks& out);
  bool add_numbers(const YamlNode& value, const std::string& what, int64_t end,
                   Ranks& out);
  static bool is_dim(int64_t dim);

  const int64_t workers_;
  ConfigFile& out_;
  YamlFault fault_;
  std::string context_;         // what a fault's message begins with
  bool is_number_said_ = true;  // of workers
  size_t ranks_ = 0;            // of all entries together
  std::vector<std::pair<size_t, const YamlNode*>> backward_;  // by signal
};

}  // namespace gt::shard
