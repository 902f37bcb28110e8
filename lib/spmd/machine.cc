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

Result<Machine> parse_machine(std::string_view text) {
  Machine machine;
  std::set<const MachineFigure*> given;
  for (std::string_view rest = text;;) {
    const std::string_view item = rest.substr(0, rest.find(','));
    const size_t equals = std::min(item.find('='), item.size());
    const std::string_view key = item.substr(0, equals);
    const MachineFigure* figure = find_machine_figure(key);
    if (figure == nullptr || equals == item.size()) {
      std::string known;
      for (const MachineFigure& f : kFigures) {
        known += (known.empty() ? "" : ", ") + std::string(f.key);
      }
      return Error{"'" + std::string(item) +
                   "': expected figures such as flops=1e12,bandwidth=1e10; "
                   "there are " +
                   known};
    }
    if (!given.insert(figure).second) {
      return Error{"'" + std::string(key) + "' is given twice"};
    }
    const std::string_view value = item.substr(equals + 1);
    if (!read_machine_figure(value, machine.*figure->field)) {
      return Error{std::string(key) + ": expected " +
                   std::string(figure->what) + ", not '" + std::string(value) +
                   "'"};
    }
    if (item.size() == rest.size()) return machine;
    rest.remove_prefix(item.size() + 1);
  }
}

}  // namespace gt
