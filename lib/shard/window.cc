#include "shard/window.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "ops/table.h"
#include "shard/window_values.h"
#include "stream/ranks.h"

namespace gt::shard {
namespace {

constexpr std::string_view kInvented = "_sm";
constexpr size_t kMostInvented = size_t{1} << 20;

// Returns the beginning of invented names in the name space of a name: "c1/_sm"
// for "c1/h".
std::string invented_head(std::string_view name) {
  const size_t slash = name.rfind('/');
  const auto space = slash == name.npos ? "" : name.substr(0, slash + 1);
  return std::string(space) + std::string(kInvented);
}

// Collects names to free, and writes one line for each set of ranks.
class Frees {
 public:
  explicit Frees(RegisterBytes& memory) : memory_(memory) {}

  void add(const std::string& name, const Ranks& ranks) {
    memory_.free(name, ranks);
    const std::string where = to_string(ranks);
    by_ranks_[where] += " " + full_name(name, where);
  }
  void write(std::string& out) const {
    for (const auto& [ranks, names] : by_ranks_) out += "free" + names + "\n";
  }

 private:
  RegisterBytes& memory_;
  std::map<std::string, std::string> by_ranks_;
};

// Writes the lines of a window in an order, with the names that their storages
// get.
class OrderedLines {
 public:
  OrderedLines(const std::vector<WindowLine>& lines, WindowValues& values,
               const std::vector<std::string>& names, NumberPool& invented,
               RegisterBytes& memory, std::string& out)
      : lines_(lines),
        values_(values),
        names_(names),
        invented_(invented),
        memory_(memory),
        out_(out) {}

  void write(uint32_t i) {
    const WindowLine& line = lines_[i];
    if (line.is_free) return write_free(i);
    const std::vector<uint32_t>& reads = values_.read_from[i];
    const std::vector<uint32_t>& writes = values_.written_to[i];
    for (const uint32_t s : writes) begin(values_.storages[s]);
    Line parsed;
    GT_CHECK(parse_line(line.text, parsed).ok());
    for (size_t p = 0; p < reads.size(); ++p) {
      parsed.operands[line.reads[p].place].text =
          values_.storages[reads[p]].text;
    }
    for (size_t p = 0; p < writes.size(); ++p) {
      const WindowPart& part = line.writes[p];
      const std::string& name = values_.storages[writes[p]].text;
      parsed.results[part.place].text = name;
      memory_.bind(name, part.held_on, part.bytes);
    }
    memory_.end_line();
    std::vector<uint32_t> used = reads;
    if (const uint32_t target = values_.target_of[i]; target != kNoIndex) {
      used.push_back(target);
      for (Note& note : parsed.notes) {
        if (note.key == "grad") note.value = values_.storages[target].text;
      }
    }
    append_line(out_, parsed);
    out_ += '\n';
    used.insert(used.end(), writes.begin(), writes.end());
    end(std::move(used));
  }

 private:
  void begin(Storage& storage) {
    if (!storage.text.empty()) return;
    storage.number = invented_.take();
    storage.text =
        invented_head(names_[storage.name]) + std::to_string(storage.number);
  }

  // Notes that a line was written that uses these storages. Frees those that no
  // further line uses.
  void end(std::vector<uint32_t> used) {
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    Frees frees(memory_);
    for (const uint32_t s : used) {
      Storage& storage = values_.storages[s];
      if (--storage.left > 0 || storage.keeps_name) continue;
      frees.add(storage.text, storage.ranks);
      invented_.give(storage.number);
    }
    frees.write(out_);
  }

  void write_free(uint32_t i) {
    Frees frees(memory_);
    for (const FreedPart& part : values_.freed[i]) {
      const Storage& storage = values_.storages[part.storage];
      if (storage.keeps_name) frees.add(names_[part.name], part.ranks);
    }
    frees.write(out_);
  }

  const std::vector<WindowLine>& lines_;
  WindowValues& values_;
  const std::vector<std::string>& names_;
  NumberPool& invented_;
  RegisterBytes& memory_;
  std::string& out_;
};

// The lines of a window as schedule() takes them. Frees that free nothing are
// left out.
class Scheduled {
 public:
  Scheduled(const std::vector<WindowLine>& lines, const WindowValues& values) {
    std::vector<uint32_t> place(lines.size(), kNoIndex);
    for (uint32_t i = 0; i < lines.size(); ++i) {
      if (lines[i].is_free && !frees_anything(values, i)) continue;
      place[i] = static_cast<uint32_t>(kept_.size());
      kept_.push_back(i);
      lines_.push_back(lines[i].line);
      for (auto* list : {&lines_.back().needs, &lines_.back().after}) {
        std::erase_if(*list, [&](uint32_t n) { return place[n] == kNoIndex; });
        for (uint32_t& n : *list) n = place[n];
      }
    }
  }

  Order order(const ScheduleKind& kind) const {
    Order found = schedule(lines_, kind);
    for (uint32_t& line : found.lines) line = kept_[line];
    return found;
  }

 private:
  static bool frees_anything(const WindowValues& values, uint32_t line) {
    const std::vector<FreedPart>& parts = values.freed[line];
    return std::any_of(parts.begin(), parts.end(), [&](const FreedPart& part) {
      return values.storages[part.storage].keeps_name;
    });
  }

  std::vector<uint32_t> kept_;  // by index in lines_: the index in the window
  std::vector<ScheduledLine> lines_;
};

}  // namespace

bool Window::is_read_by(const Line& line) const {
  const auto is_bound = [this](std::string_view name) {
    const auto it = numbers_.find(std::string(name));
    return it != numbers_.end() && names_[it->second].is_bound;
  };
  const std::string_view* target = line.note("grad");
  return (target != nullptr && is_bound(*target)) ||
         std::any_of(line.operands.begin(), line.operands.end(),
                     [&](const Operand& operand) {
                       return operand.kind == Operand::Kind::kName &&
                              is_bound(operand.text);
                     });
}

bool Window::is_changed_by(const Line& line) const {
  return changes(line, [](const Named& /*name*/) { return true; });
}

bool Window::is_microbatch_changed_by(const Line& line) const {
  return changes(line, [](const Named& name) { return name.is_of_microbatch; });
}

template <typename Wanted>
bool Window::changes(const Line& line, const Wanted& is_wanted) const {
  const auto is_known = [&](std::string_view name) {
    const auto it = numbers_.find(std::string(name));
    return it != numbers_.end() && is_wanted(names_[it->second]);
  };
  const bool frees = statement_of(line.op) == Statement::kFree;
  return std::any_of(line.results.begin(), line.results.end(),
                     [&](const Name& name) { return is_known(name.text); }) ||
         (frees && std::any_of(line.operands.begin(), line.operands.end(),
                               [&](const Operand& operand) {
                                 return is_known(operand.text);
                               }));
}

uint32_t Window::number_of(std::string_view name) {
  const auto [it, is_new] = numbers_.try_emplace(
      std::string(name), static_cast<uint32_t>(names_.size()));
  if (!is_new) return it->second;
  names_.push_back({std::string(name)});
  // A name of the input that looks like an invented one stays the input's.
  size_t number = 0;
  const std::string head = invented_head(name);
  if (name.starts_with(head) && read_number(name.substr(head.size()), number) &&
      number < kMostInvented) {
    invented_.keep(number);
  }
  return it->second;
}

void Window::add(std::string_view text, const Line& line,
                 const LineRanks& where, int64_t microbatch, LineSize size) {
  WindowLine& held = lines_.emplace_back();
  held.text = text;
  held.is_free = statement_of(line.op) == Statement::kFree;
  held.says_microbatch = microbatch >= 0;
  held.line.microbatch = microbatch;
  held.line.is_backward = line.note("bwd") != nullptr;
  held.line.is_recomputed =
      held.line.is_backward && line.note("recompute") != nullptr;
  held.line.seconds = size.seconds;
  held.line.ranks = ascending(where.ranks);
  const bool crosses = !held.is_free && crosses_ranks(line, where);
  for (uint32_t o = 0; o < line.operands.size(); ++o) {
    if (line.operands[o].kind != Operand::Kind::kName) continue;
    const Ranks ranks = ascending(ranks_read(line, where, o));
    const uint32_t name = number_of(line.operands[o].text);
    held.reads.push_back({o, name, ranks, {}, {}});
    names_[name].is_of_microbatch |= microbatch >= 0;
    if (crosses) held.line.senders = together(held.line.senders, ranks);
  }
  for (uint32_t r = 0; r < line.results.size(); ++r) {
    const uint32_t name = number_of(line.results[r].text);
    names_[name].is_bound = true;
    names_[name].is_of_microbatch |= microbatch >= 0;
    held.writes.push_back(
        {r, name, held.line.ranks, held.line.ranks, std::move(size.bytes[r])});
  }
  if (const std::string_view* target = line.note("grad")) {
    held.target = number_of(*target);
  }
  if (microbatch >= 0) microbatches_.insert(microbatch);
}

// Leaves in each set of ranks only the first rank of each class.
RankClasses Window::keep_first_ranks() {
  RankClasses classes;
  const auto each_set = [this](const auto& take) {
    for (WindowLine& line : lines_) {
      take(line.line.ranks);
      take(line.line.senders);
      for (WindowPart& part : line.reads) take(part.ranks);
      for (WindowPart& part : line.writes) take(part.ranks);
    }
  };
  each_set([&](Ranks& ranks) { classes.set_of(ranks); });
  each_set([&](Ranks& ranks) { ranks = classes.first_ranks(ranks); });
  return classes;
}

// Returns the seconds in which ranks compute, of all together.
double Window::busy_seconds() const {
  double seconds = 0;
  for (const WindowLine& line : lines_) {
    if (!line.line.occupies_ranks()) continue;
    seconds += line.line.seconds * static_cast<double>(line.line.ranks.size());
  }
  return seconds;
}

// Finds the microbatches of lines without a note #mb= that a line of one reads:
// second names of values, which gt-emit makes, and values that are made of
// nothing. What no microbatch reads, such as a norm over all gradients, belongs
// to none, and nothing in the microbatches hurries for it.
void Window::find_microbatches() {
  std::vector<bool> is_read(lines_.size(), false);
  for (size_t i = lines_.size(); i-- > 0;) {
    if (!is_read[i] && !lines_[i].says_microbatch) continue;
    for (const uint32_t n : lines_[i].line.needs) is_read[n] = true;
  }
  for (size_t i = 0; i < lines_.size(); ++i) {
    ScheduledLine& line = lines_[i].line;
    if (!is_read[i] || line.microbatch >= 0) continue;
    for (const uint32_t n : line.needs) {
      line.microbatch = std::max(line.microbatch, lines_[n].line.microbatch);
    }
  }
  for (auto line = lines_.rbegin(); line != lines_.rend(); ++line) {
    for (const uint32_t n : line->line.needs) {
      ScheduledLine& made = lines_[n].line;
      if (made.needs.empty() && !lines_[n].says_microbatch) {
        made.microbatch = line->line.microbatch;
      }
    }
  }
}

// A line that reads what the backward part of its microbatch made belongs to
// the backward part itself, even if a user wrote it.
void Window::find_backward() {
  for (WindowLine& line : lines_) {
    for (const uint32_t n : line.line.needs) {
      const ScheduledLine& made = lines_[n].line;
      if (made.is_backward && made.microbatch == line.line.microbatch) {
        line.line.is_backward = true;
      }
    }
  }
}

Order Window::close(const ScheduleKind& kind, RegisterBytes& memory,
                    std::string& out) {
  const double busy = busy_seconds();
  RankClasses classes = keep_first_ranks();
  WindowValues values(lines_);
  for (Storage& storage : values.storages) {
    storage.ranks = classes.all_ranks(storage.ranks);
  }
  for (std::vector<FreedPart>& parts : values.freed) {
    for (FreedPart& part : parts) part.ranks = classes.all_ranks(part.ranks);
  }
  find_microbatches();
  find_backward();
  std::vector<std::string> names;
  names.reserve(names_.size());
  for (const Named& name : names_) names.push_back(name.text);
  for (Storage& storage : values.storages) {
    if (storage.keeps_name) storage.text = names[storage.name];
  }
  Order order = Scheduled(lines_, values).order(kind);
  Ranks first;
  for (const WindowLine& line : lines_) {
    first = together(first, line.line.ranks);
  }
  order.ranks = static_cast<int64_t>(classes.all_ranks(first).size());
  order.busy = busy;
  OrderedLines writer(lines_, values, names, invented_, memory, out);
  for (const uint32_t line : order.lines) writer.write(line);
  lines_.clear();
  microbatches_.clear();
  names_.clear();
  numbers_.clear();
  return order;
}

}  // namespace gt::shard
