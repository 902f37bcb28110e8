#include "spmd/machine.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"

namespace gt {
namespace {

constexpr MachineFigure kFigures[] = {
    {"flops", "operations a second, such as 1e12", &Machine::flops},
    {"memory_bandwidth", "bytes a second, such as 1e11",
     &Machine::memory_bandwidth},
    {"bandwidth", "bytes a second, such as 1e10", &Machine::bandwidth},
    {"latency", "seconds above 0, such as 1e-5", &Machine::latency},
    {"memory", "bytes, such as 16e9", &Machine::memory},
};

}  // namespace

std::span<const MachineFigure> machine_figures() { return kFigures; }

const MachineFigure* find_machine_figure(std::string_view key) {
  const auto* figure =
      std::find_if(std::begin(kFigures), std::end(kFigures),
                   [&](const MachineFigure& f) { return f.key == key; });
  return figure == std::end(kFigures) ? nullptr : figure;
}

bool read_machine_figure(std::string_view text, double& value) {
  return read_number(text, value) && std::isfinite(value) && value > 0;
}

Status set_level_figure(Machine& machine, std::string_view level,
                        std::string_view key, std::string_view text) {
  auto it = std::find_if(machine.levels.begin(), machine.levels.end(),
                         [&](const LinkLevel& l) { return l.name == level; });
  if (it == machine.levels.end()) {
    machine.levels.push_back({std::string(level), 0, {}});
    it = machine.levels.end() - 1;
  }
  const auto expected = [&](std::string_view what) {
    return Error{std::string(key) + ": expected " + std::string(what) +
                 ", not '" + std::string(text) + "'"};
  };
  if (key == "ranks") {
    if (read_number(text, it->ranks) && it->ranks > 0) return ok_status();
    return expected("a number of ranks, such as 8");
  }
  if (key != "bandwidth" && key != "latency") {
    return Error{"'" + std::string(key) +
                 "' is no figure of a level: there are ranks, bandwidth and "
                 "latency"};
  }
  double& figure = key == "latency" ? it->link.latency : it->link.bandwidth;
  if (read_machine_figure(text, figure)) return ok_status();
  return expected(find_machine_figure(key)->what);
}

Status settle_levels(Machine& machine) {
  std::vector<LinkLevel>& levels = machine.levels;
  std::stable_sort(
      levels.begin(), levels.end(),
      [](const LinkLevel& a, const LinkLevel& b) { return a.ranks < b.ranks; });
  if (!levels.empty() && levels[0].ranks == 0) {
    machine.bandwidth = levels[0].link.bandwidth;
    machine.latency = levels[0].link.latency;
    levels.erase(levels.begin());
  }
  for (size_t i = 0; i < levels.size(); ++i) {
    const int64_t before = i == 0 ? 1 : levels[i - 1].ranks;
    if (levels[i].ranks > before && levels[i].ranks % before == 0) continue;
    if (levels[i].ranks == 0) {
      return Error{levels[i].name +
                   ": how many ranks has it, as in ranks: 8? " +
                   "Only one level can be what is beyond the others"};
    }
    if (levels[i].ranks == 1) {
      return Error{levels[i].name + ": a level of one rank has no link"};
    }
    return Error{levels[i].name + ": " + std::to_string(levels[i].ranks) +
                 " ranks are no multiple of the " + std::to_string(before) +
                 " of " + levels[i - 1].name};
  }
  return ok_status();
}

Result<Machine> parse_machine(std::string_view text) {
  Machine machine;
  std::set<std::string_view> given;
  for (std::string_view rest = text;;) {
    const std::string_view item = rest.substr(0, rest.find(','));
    const size_t equals = std::min(item.find('='), item.size());
    const std::string_view key = item.substr(0, equals);
    const size_t dot = key.find('.');
    const MachineFigure* figure = find_machine_figure(key);
    if ((figure == nullptr && dot == key.npos) || equals == item.size()) {
      std::string known;
      for (const MachineFigure& f : kFigures) {
        known += (known.empty() ? "" : ", ") + std::string(f.key);
      }
      return Error{"'" + std::string(item) +
                   "': expected figures such as flops=1e12,bandwidth=1e10; "
                   "there are " +
                   known +
                   ", and of a level such as node node.ranks, "
                   "node.bandwidth and node.latency"};
    }
    if (!given.insert(key).second) {
      return Error{"'" + std::string(key) + "' is given twice"};
    }
    const std::string_view value = item.substr(equals + 1);
    if (figure == nullptr) {
      if (Status s = set_level_figure(machine, key.substr(0, dot),
                                      key.substr(dot + 1), value);
          !s.ok()) {
        return s.error();
      }
    } else if (!read_machine_figure(value, machine.*figure->field)) {
      return Error{std::string(key) + ": expected " +
                   std::string(figure->what) + ", not '" + std::string(value) +
                   "'"};
    }
    if (item.size() == rest.size()) {
      if (Status s = settle_levels(machine); !s.ok()) return s.error();
      return machine;
    }
    rest.remove_prefix(item.size() + 1);
  }
}

}  // namespace gt
