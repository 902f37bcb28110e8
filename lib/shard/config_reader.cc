#include "shard/config_reader.h"

#include <algorithm>

#include "base/message.h"
#include "base/text.h"
#include "stream/line.h"
#include "stream/ranks.h"

namespace gt::shard {
namespace {

// Keys of gt's own form alone, and those that stand beside signals in GT's form
// as well.
const std::vector<std::string_view> kOwnKeys = {"mesh", "signals", "tensors"};
const std::vector<std::string_view> kSettings = {
    "schedule", "machine", "regather", "ring",
    "overlap",  "chunks",  "sums",     "precision"};

// Returns the setting of that key that is true or false; null: there is none.
bool* flag_of(ConfigFile& file, std::string_view key) {
  if (key == "regather") return &file.regather;
  if (key == "ring") return &file.ring;
  return key == "overlap" ? &file.overlap : nullptr;
}

Dtype* dtype_of(ConfigFile& file, std::string_view key) {
  if (key == "sums") return &file.sums;
  return key == "precision" ? &file.precision : nullptr;
}

const YamlNode* child(const YamlNode& map, std::string_view key) {
  if (map.kind != YamlNode::Kind::kMap) return nullptr;
  for (size_t i = 0; i < map.items.size(); i += 2) {
    if (map.items[i]->text == key) return map.items[i + 1];
  }
  return nullptr;
}

// Returns true if the value is what GT's form says of a signal.
bool is_gt_signal(const YamlNode& value) {
  for (const char* setting : {"shard", "workers", "backward", "compile"}) {
    if (child(value, setting) != nullptr) return true;
  }
  return false;
}

// Returns true if the config has a key of gt's own form alone, or settings that
// stand beside no signal of GT's form.
bool is_own_form(const YamlNode& root) {
  bool has_setting = false, has_gt_signal = false;
  for (size_t i = 0; i < root.items.size(); i += 2) {
    const std::string& key = root.items[i]->text;
    if (is_one_of(kOwnKeys, key)) return true;
    const bool is_setting = is_one_of(kSettings, key);
    has_setting |= is_setting;
    has_gt_signal |= !is_setting && is_gt_signal(*root.items[i + 1]);
  }
  return has_setting && !has_gt_signal;
}

// Returns the largest rank that a workers: names, or -1 if it names none or is
// null.
int64_t largest_rank(const YamlNode* workers) {
  int64_t largest = -1;
  if (workers == nullptr) return largest;
  if (workers->kind == YamlNode::Kind::kScalar) {
    const auto ranks = parse_ranks(workers->text);
    if (!ranks.ok()) return largest;  // reading the entry reports it
    for (const int64_t rank : ranks.value()) largest = std::max(largest, rank);
  }
  if (workers->kind == YamlNode::Kind::kList) {
    for (const YamlNode* item : workers->items) {
      if (item->kind != YamlNode::Kind::kScalar) continue;
      largest = std::max(largest, largest_rank(item));
    }
  }
  return largest;
}

// Returns the largest rank that the entries of GT's form name; -1: none.
int64_t largest_named(const YamlNode& root) {
  int64_t largest = -1;
  if (root.kind != YamlNode::Kind::kMap) return largest;
  for (size_t i = 1; i < root.items.size(); i += 2) {
    const YamlNode& entry = *root.items[i];
    largest = std::max(largest, largest_rank(child(entry, "workers")));
    if (const YamlNode* shard = child(entry, "shard")) {
      largest = std::max(largest, largest_rank(child(*shard, "workers")));
    }
  }
  return largest;
}

std::vector<std::string_view> all_keys() {
  std::vector<std::string_view> keys = kOwnKeys;
  keys.insert(keys.end(), kSettings.begin(), kSettings.end());
  return keys;
}

std::string kind_of(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a map";
    case YamlNode::Kind::kScalar:
      break;
  }
  return "'" + excerpt(node.text) + "'";
}

// Returns "a, b or c".
std::string listed(const std::vector<std::string_view>& words) {
  std::string out;
  for (size_t i = 0; i < words.size(); ++i) {
    out += (i == 0 ? "" : i + 1 < words.size() ? ", " : " or ");
    out += words[i];
  }
  return out;
}

}  // namespace

std::optional<YamlFault> read_config(std::string_view text, int64_t workers,
                                     ConfigFile& out) {
  YamlDocument document;
  if (auto fault = parse_yaml(text, document)) return fault;
  static const YamlNode kNothing;
  ConfigReader reader(workers, out);
  if (reader.read(document.root == nullptr ? kNothing : *document.root)) {
    return std::nullopt;
  }
  return reader.fault();
}

// ---- faults, and keys of maps -----------------------------------------------

bool ConfigReader::fail(const YamlNode& at, const std::string& what) {
  fault_ = {at.line, Error{context_ + what, at.column}};
  return false;
}

bool ConfigReader::expected(const YamlNode& at, std::string_view what) {
  return fail(at, "expected " + std::string(what) + ", got " + kind_of(at));
}

bool ConfigReader::unknown_key(const YamlNode& key, const Keys& known,
                               const std::string& hint) {
  return fail(key, "unknown key '" + excerpt(key.text) + "'; expected " +
                       listed(known) + hint + did_you_mean(key.text, known));
}

bool ConfigReader::unknown_word(const YamlNode& at, const Keys& known) {
  return fail(at, "expected " + listed(known) + ", got " + kind_of(at) +
                      did_you_mean(at.text, known));
}

bool ConfigReader::each(const YamlNode& map, std::string_view example,
                        const ReadKey& read_key) {
  if (map.kind != YamlNode::Kind::kMap) {
    return expected(map, "a map such as " + std::string(example));
  }
  for (size_t i = 0; i < map.items.size(); i += 2) {
    const YamlNode& key = *map.items[i];
    const YamlNode& value = *map.items[i + 1];
    const size_t colon = key.text.find(':');
    if (value.kind == YamlNode::Kind::kNull && colon != std::string::npos) {
      return fail(key, "'" + excerpt(key.text) +
                           "' has no value; YAML wants a blank after ':', as "
                           "in '" +
                           excerpt(key.text.substr(0, colon)) + ": " +
                           excerpt(key.text.substr(colon + 1)) + "'");
    }
    if (!read_key(key, value)) return false;
  }
  return true;
}

// ---- the two forms ----------------------------------------------------------

bool ConfigReader::read(const YamlNode& root) {
  out_.is_empty = root.kind == YamlNode::Kind::kNull ||
                  (root.kind == YamlNode::Kind::kMap && root.items.empty());
  if (out_.is_empty) return all_workers(root);
  if (root.kind != YamlNode::Kind::kMap) {
    return expected(root,
                    "a map of signals, such as colpar: {shard: {axis: 1}}");
  }
  out_.is_own_form = is_own_form(root);
  if (!(out_.is_own_form ? read_own(root) : read_gt(root))) return false;
  context_.clear();
  return check_backward();
}

bool ConfigReader::read_gt(const YamlNode& root) {
  return all_workers(root) &&
         each(root, "{colpar: {shard: ...}}",
              [this](const YamlNode& key, const YamlNode& value) {
                return is_one_of(kSettings, key.text)
                           ? read_own_key(key, value)
                           : read_entry(key, value, out_.signals,
                                        &ConfigReader::read_gt_entry);
              });
}

bool ConfigReader::read_own(const YamlNode& root) {
  // Unknown keys are reported first, since a misspelled one may be the one that
  // is missed further down.
  for (size_t i = 0; i < root.items.size(); i += 2) {
    const YamlNode& key = *root.items[i];
    if (is_one_of(all_keys(), key.text)) continue;
    return foreign_key(key, *root.items[i + 1]);
  }
  const YamlNode* mesh = child(root, "mesh");
  out_.has_mesh = mesh != nullptr;
  if (!(mesh != nullptr ? read_mesh(*mesh) : default_mesh(root))) return false;
  return each(root, "mesh: {tp: 2}",
              [this](const YamlNode& key, const YamlNode& value) {
                return read_own_key(key, value);
              });
}

bool ConfigReader::read_own_key(const YamlNode& key, const YamlNode& value) {
  context_ = key.text + ": ";
  const bool is_read = key.text == "mesh" || read_setting(key.text, value);
  context_.clear();
  return is_read;
}

bool ConfigReader::read_setting(std::string_view key, const YamlNode& value) {
  if (bool* flag = flag_of(out_, key)) return read_bool(value, *flag);
  if (key == "schedule") return read_schedule(value);
  if (key == "chunks") return read_chunks(value, out_.chunks);
  if (Dtype* dtype = dtype_of(out_, key)) return read_dtype(value, *dtype);
  // The key has no value: perhaps everything below it was commented out.
  if (value.kind == YamlNode::Kind::kNull) return true;
  if (key == "machine") return read_machine(value);
  return key == "signals"
             ? read_entries(value, out_.signals, &ConfigReader::read_signal)
             : read_entries(value, out_.tensors, &ConfigReader::read_tensor);
}

// Fails because of a key that gt's own form does not have. It is either a
// signal of GT's form, or misspelled.
bool ConfigReader::foreign_key(const YamlNode& key, const YamlNode& value) {
  if (is_gt_signal(value)) {
    return fail(key, "'" + excerpt(key.text) +
                         "' is a signal in GT's form, beside which there is no "
                         "mesh:, signals: or tensors:; put it under signals: "
                         "and name its axis, as in shard: {tp: 0}");
  }
  return unknown_key(key, all_keys());
}

bool ConfigReader::check_backward() {
  std::vector<std::string_view> names;
  for (const ConfigEntry& entry : out_.signals) names.push_back(entry.name);
  std::vector<std::string_view> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [signal, at] : backward_) {
    const std::string& name = out_.signals[signal].backward;
    if (std::binary_search(sorted.begin(), sorted.end(), name)) continue;
    return fail(*at, "signal '" + excerpt(out_.signals[signal].name) +
                         "': backward: no entry '" + excerpt(name) + "'" +
                         did_you_mean(name, names));
  }
  return true;
}

// ---- meshes -----------------------------------------------------------------

bool ConfigReader::read_mesh(const YamlNode& value) {
  Axes axes;
  context_ = "mesh: ";
  const bool is_read = each(
      value, "{dp: 2, tp: 4}", [&](const YamlNode& key, const YamlNode& size) {
        int64_t ranks = 0;
        if (!is_name(key.text) || key.text == "space" ||
            key.text.find_first_of("./") != std::string::npos) {
          return fail(key, "'" + excerpt(key.text) +
                               "' is no name of an axis such as dp");
        }
        // A number such as 02 is refused, since some readers of YAML take it as
        // octal.
        if (!read_number(size.text, ranks) || ranks < 1 ||
            ranks > Mesh::kMaxSize || size.text[0] == '0') {
          return expected(size, "a number of ranks along " + key.text +
                                    ", from 1 to " +
                                    std::to_string(Mesh::kMaxSize));
        }
        axes.emplace_back(key.text, ranks);
        return true;
      });
  if (!is_read) return false;
  if (axes.empty()) {
    return fail(value, "names no axes, such as {dp: 2, tp: 4}");
  }
  context_.clear();
  if (!make_mesh(value, axes)) return false;
  if (workers_ <= 0 || workers_ == out_.mesh.size()) return true;
  return fail(value, "mesh " + out_.mesh.describe() + " has " +
                         std::to_string(out_.mesh.size()) +
                         " ranks, and -n says " + std::to_string(workers_));
}

bool ConfigReader::default_mesh(const YamlNode& root) {
  if (workers_ == 0 && child(root, "signals") != nullptr) {
    return fail(root,
                "no mesh; say mesh: {tp: 2}, or the number of workers with -n");
  }
  // For any number of workers this is enough to be named.
  const int64_t many = workers_ < 0 ? 4096 : std::max<int64_t>(workers_, 1);
  return make_mesh(root, {{"workers", many}});
}

// Makes a mesh of one axis, with as many ranks as -n says. Without -n it has
// all ranks up to the largest that the file names.
bool ConfigReader::all_workers(const YamlNode& root) {
  const int64_t largest = workers_ > 0 ? -1 : largest_named(root);
  is_number_said_ = workers_ != 0 || largest >= 0;
  const int64_t named = std::max<int64_t>(largest + 1, 1);
  return make_mesh(root, {{"workers", workers_ > 0 ? workers_ : named}});
}

bool ConfigReader::make_mesh(const YamlNode& at, const Axes& axes) {
  out_.mesh = {};
  for (const auto& [axis, size] : axes) {
    if (Status s = out_.mesh.add(axis, size); !s.ok()) {
      return fail(at, s.error().message);
    }
  }
  return true;
}

}  // namespace gt::shard
