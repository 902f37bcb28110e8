// Reads single values of a config, and the maps that have nothing else.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/message.h"
#include "base/text.h"
#include "ops/table.h"
#include "shard/config_reader.h"
#include "stream/ranks.h"

namespace gt::shard {
namespace {

std::vector<std::string_view> machine_keys() {
  std::vector<std::string_view> keys;
  for (const MachineFigure& f : machine_figures()) keys.push_back(f.key);
  return keys;
}

}  // namespace

std::string machine_yaml(const Machine& machine) {
  const Machine usual;
  std::string out;
  const auto text = [](double figure) {
    char value[32];
    std::snprintf(value, sizeof value, "%.15g", figure);
    return std::string(value);
  };
  const auto add = [&](const std::string& item) {
    out += (out.empty() ? "" : ", ") + item;
  };
  for (const MachineFigure& figure : machine_figures()) {
    if (machine.*figure.field == usual.*figure.field) continue;
    add(std::string(figure.key) + ": " + text(machine.*figure.field));
  }
  for (const LinkLevel& level : machine.levels) {
    add(level.name + ": {ranks: " + std::to_string(level.ranks) +
        ", bandwidth: " + text(level.link.bandwidth) +
        ", latency: " + text(level.link.latency) + "}");
  }
  return out.empty() ? "" : "machine: {" + out + "}\n";
}

bool ConfigReader::read_bool(const YamlNode& value, bool& out) {
  out = value.text == "true";
  return out || value.text == "false" || expected(value, "true or false");
}

bool ConfigReader::read_chunks(const YamlNode& value, int64_t& out) {
  if (value.text == "auto") {
    out = kChunksByCost;
    return true;
  }
  return (read_number(value.text, out) && out >= 1 && out <= kMostChunks) ||
         expected(value, "auto, or a number of chunks from 1 to " +
                             std::to_string(kMostChunks));
}

bool ConfigReader::read_recompute(const YamlNode& value, Scope& scope) {
  RecomputeSetting& out = scope.recompute.emplace();
  out.line = value.line;
  if (value.kind != YamlNode::Kind::kList) {
    out.all = value.text == "true";
    return out.all || value.text == "false" ||
           expected(value, "true, false or ops such as [attention, gelu]");
  }
  for (const YamlNode* op : value.items) {
    if (find_op(op->text) == nullptr) {
      return fail(*op, "recompute: no op '" + excerpt(op->text) + "'" +
                           did_you_mean(op->text, op_names()));
    }
    out.ops.push_back(op->text);
  }
  return true;
}

bool ConfigReader::read_dtype(const YamlNode& value, Dtype& out) {
  const Keys known = {"f32", "bf16", "f16"};
  if (!is_one_of(known, value.text)) return unknown_word(value, known);
  out = *parse_dtype(value.text);
  return true;
}

bool ConfigReader::read_dim(const YamlNode& value, int64_t& dim) {
  return (read_number(value.text, dim) && is_dim(dim)) ||
         expected(value, "a dimension such as 0, 1 or -1");
}

bool ConfigReader::add_numbers(const YamlNode& value, const std::string& what,
                               int64_t end, Ranks& out) {
  const auto read = parse_ranks(value.text);
  if (value.kind != YamlNode::Kind::kScalar || !read.ok()) {
    return expected(value, what + " such as 0, [0, 2] or 0-3");
  }
  for (const int64_t number : read.value()) {
    if (number < end) continue;
    return fail(value, what + ": " + std::to_string(number) +
                           " is not there; they are 0 to " +
                           std::to_string(end - 1) + " in mesh " +
                           out_.mesh.describe());
  }
  out.insert(out.end(), read.value().begin(), read.value().end());
  return true;
}

bool ConfigReader::read_numbers(const YamlNode& value, const std::string& what,
                                int64_t end, Ranks& out) {
  if (value.kind == YamlNode::Kind::kList) {
    if (value.items.empty()) return expected(value, what + ", at least one");
    for (const YamlNode* item : value.items) {
      if (!add_numbers(*item, what, end, out)) return false;
    }
  } else if (!add_numbers(value, what, end, out)) {
    return false;
  }
  out = ascending(std::move(out));
  const auto twice = std::adjacent_find(out.begin(), out.end());
  return twice == out.end() ||
         fail(value, what + ": " + std::to_string(*twice) + " stands twice");
}

bool ConfigReader::read_machine(const YamlNode& value) {
  const auto read = [&](const YamlNode& key, const YamlNode& said) {
    const MachineFigure* figure = find_machine_figure(key.text);
    if (figure != nullptr) {
      return read_machine_figure(said.text, out_.machine.*figure->field) ||
             expected(said, std::string(figure->what));
    }
    if (said.kind != YamlNode::Kind::kMap)
      return unknown_key(key, machine_keys());
    return each(said, "{ranks: 8, bandwidth: 4e11}",
                [&](const YamlNode& name, const YamlNode& number) {
                  return holds(set_level_figure(out_.machine, key.text,
                                                name.text, number.text),
                               number);
                });
  };
  return each(value, "{flops: 1e12, bandwidth: 1e10}", read) &&
         holds(settle_levels(out_.machine), value);
}

bool ConfigReader::read_schedule(const YamlNode& value) {
  Schedule& schedule = out_.schedule.emplace();
  schedule.line = value.line;
  const bool is_read = each(
      value, "{kind: 1f1b}", [&](const YamlNode& key, const YamlNode& said) {
        if (key.text == "window") {
          return (read_number(said.text, schedule.window) &&
                  schedule.window > 0) ||
                 expected(said, "a number of microbatches");
        }
        if (key.text != "kind") return unknown_key(key, {"kind", "window"});
        schedule.kind = find_schedule_kind(said.text);
        if (schedule.kind != nullptr) return true;
        Keys kinds;
        for (const ScheduleKind& kind : schedule_kinds()) {
          kinds.push_back(kind.name);
        }
        return unknown_word(said, kinds);
      });
  if (!is_read || schedule.kind != nullptr) return is_read;
  return fail(value, "says no kind, such as 1f1b");
}

}  // namespace gt::shard
