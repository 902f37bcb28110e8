#include "shard/config.h"

#include <algorithm>
#include <map>

#include "base/message.h"
#include "shard/config_reader.h"
#include "stream/line.h"
#include "stream/ranks.h"

namespace gt::shard {
namespace {

std::string quoted(const ConfigEntry& entry) {
  return "signal '" + excerpt(entry.name) + "'";
}

std::string described(const ConfigEntry::Limit& limit) {
  return limit.axis + "=" + to_string(limit.coordinates);
}

std::string in_line(const ConfigEntry& entry) {
  return quoted(entry) + " (line " + std::to_string(entry.line) + ")";
}

template <typename Entries, typename Used, typename Report>
void for_each_unused(const Entries& entries, const Used& used,
                     const Report& report) {
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!used[i] && !entries[i].is_optional) report(entries[i]);
  }
}

std::string_view line_of(std::string_view text, size_t number) {
  while (number > 1 && !text.empty()) {
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    --number;
  }
  return text.substr(0, text.find_first_of("\r\n"));
}

// Returns why a cut over the axis, or over several ("dp+tp"), cuts nothing on
// these ranks. Returns "" if it does cut.
std::string why_no_cut(const Mesh& mesh, const std::string& over,
                       const Ranks& ranks) {
  const auto resolved = mesh.resolve(over);
  if (!resolved.ok()) return "";
  const auto coordinates = [&](const MeshAxis& axis) {
    std::vector<bool> found(static_cast<size_t>(axis.size));
    for (const int64_t rank : ranks) {
      found[static_cast<size_t>(rank / axis.stride % axis.size)] = true;
    }
    return static_cast<size_t>(std::count(found.begin(), found.end(), true));
  };
  size_t grid = 1;
  for (const MeshAxis& axis : mesh.axes()) grid *= coordinates(axis);
  if (grid != ranks.size()) {
    return "are no block of mesh " + mesh.describe() +
           ", so that each has all of a tensor";
  }
  for (const MeshAxis* axis : resolved.value()) {
    if (axis->size == 1 || coordinates(*axis) > 1) return "";
  }
  return "do not differ in " + over;
}

}  // namespace

// ---- scopes within each other -----------------------------------------------

Status ScopeMerge::add(const ConfigEntry& inner) {
  const Scope& said = inner.scope;
  if (said.shard) scope_.shard = said.shard;
  if (said.results) scope_.results = said.results;
  if (said.compile) scope_.compile = said.compile;
  if (said.regather) scope_.regather = said.regather;
  if (said.ring) scope_.ring = said.ring;
  if (said.chunks) scope_.chunks = said.chunks;
  if (said.sums) scope_.sums = said.sums;
  if (said.precision) scope_.precision = said.precision;
  if (said.recompute) scope_.recompute = said.recompute;
  if (Status s = narrow(inner); !s.ok()) return s;
  outer_.push_back(&inner);
  return check_cuts(inner);
}

Status ScopeMerge::narrow(const ConfigEntry& inner) {
  const std::optional<Ranks>& ranks = inner.scope.ranks;
  if (!ranks) return ok_status();
  scope_.ranks_line = inner.scope.ranks_line;
  if (!file_.is_own_form || !scope_.ranks) {
    scope_.ranks = ranks;
    return ok_status();
  }
  for (const ConfigEntry* outer : outer_) {
    for (const ConfigEntry::Limit& here : inner.on) {
      for (const ConfigEntry::Limit& there : outer->on) {
        if (here.axis != there.axis) continue;
        if (!common(there.coordinates, here.coordinates).empty()) continue;
        return Error{"on " + described(here) + ", but within " +
                     in_line(*outer) + ", which is on " + described(there)};
      }
    }
  }
  Ranks both = common(*scope_.ranks, *ranks);
  if (both.empty()) {
    return Error{"on ranks " + to_string(*ranks) +
                 ", but within scopes on ranks " + to_string(*scope_.ranks)};
  }
  scope_.ranks = std::move(both);
  return ok_status();
}

// Returns an error if a cut has no effect because the lines run on only one
// coordinate of its axis.
Status ScopeMerge::check_cuts(const ConfigEntry& inner) const {
  const auto check = [&](const std::optional<CutSetting>& setting,
                         const char* key) -> Status {
    if (!setting) return ok_status();
    for (const SplitEntry& cut : setting->cuts) {
      for (const ConfigEntry* outer : outer_) {
        for (const ConfigEntry::Limit& limit : outer->on) {
          if (limit.axis != cut.axis || limit.coordinates.size() > 1) {
            continue;
          }
          return Error{std::string(key) + " over " + cut.axis +
                       " cuts nothing on " + described(limit) + ", where " +
                       (outer == &inner ? "it" : in_line(*outer)) + " runs"};
        }
      }
      // In GT's form a cut over one worker is allowed: the tensor is on that
      // worker.
      if (!file_.is_own_form || !scope_.ranks) continue;
      const std::string why = why_no_cut(file_.mesh, cut.axis, *scope_.ranks);
      if (why.empty()) continue;
      return Error{std::string(key) + " over " + cut.axis +
                   " cuts nothing where it runs: ranks " +
                   to_string(*scope_.ranks) + " (line " +
                   std::to_string(scope_.ranks_line) + ") " + why +
                   "; take other ranks, or leave it out"};
    }
    return ok_status();
  };
  if (Status s = check(scope_.shard, "shard"); !s.ok()) return s;
  return check(scope_.results, "results");
}

// ---- what holds for lines and names -----------------------------------------

Config::Config(ConfigFile file)
    : file_(std::move(file)),
      used_signals_(file_.signals.size()),
      taken_signals_(file_.signals.size()),
      used_tensors_(file_.tensors.size()) {
  for (size_t i = 0; i < file_.signals.size(); ++i) {
    const std::string& name = file_.signals[i].name;
    by_name_.emplace(name, i);
    const auto slashes = std::count(name.begin(), name.end(), '/');
    most_slashes_ = std::max(most_slashes_, static_cast<size_t>(slashes));
  }
  size_t settings = 0;
  for (auto* entries : {&file_.signals, &file_.tensors}) {
    for (ConfigEntry& entry : *entries) {
      for (auto* setting : {&entry.scope.shard, &entry.scope.results}) {
        if (*setting) (*setting)->number = settings++;
      }
    }
  }
}

Result<Config> Config::parse(std::string_view text, std::string_view file,
                             int64_t workers, std::string_view* culprit) {
  ConfigFile out;
  out.file = file;
  auto fault = read_config(text, workers, out);
  if (!fault) return Config(std::move(out));
  if (culprit != nullptr) *culprit = line_of(text, fault->line);
  return Error{
      to_string(Place{file, fault->line}) + ": " + fault->error.message,
      fault->error.column};
}

size_t Config::first_entry() const {
  size_t first = 0;
  for (const auto* entries : {&file_.signals, &file_.tensors}) {
    if (entries->empty()) continue;
    const size_t line = entries->front().line;
    first = first == 0 ? line : std::min(first, line);
  }
  return first;
}

bool Config::gathers_ahead() const {
  if (!overlap()) return false;
  const auto regathers = [](const ConfigEntry& entry) {
    return entry.scope.regather.value_or(false);
  };
  return regather() ||
         std::any_of(file_.signals.begin(), file_.signals.end(), regathers);
}

bool Config::has_recompute() const {
  return std::any_of(
      file_.signals.begin(), file_.signals.end(),
      [](const ConfigEntry& entry) { return entry.scope.recompute; });
}

std::string Config::place(size_t line) const {
  return to_string(Place{file_.file, line});
}

// Returns the entry with the longest name that the path ends with. Null: there
// is none.
const ConfigEntry* Config::entry_of(std::string_view path) const {
  const ConfigEntry* found = nullptr;
  size_t begin = path.size();
  for (size_t n = 0; n <= most_slashes_ && begin > 0; ++n) {
    const size_t slash = path.rfind('/', begin - 1);
    begin = slash == std::string_view::npos ? 0 : slash;
    const size_t from = slash == std::string_view::npos ? 0 : slash + 1;
    const auto it = by_name_.find(path.substr(from));
    if (it != by_name_.end()) found = &file_.signals[it->second];
  }
  return found;
}

const ConfigEntry* Config::use(const ConfigEntry& entry,
                               bool is_backward) const {
  used_signals_[static_cast<size_t>(&entry - file_.signals.data())] = true;
  const ConfigEntry* taken = &entry;
  if (!entry.backward.empty()) {
    // In a program without gradients no line is backward, so the entry for
    // backward lines counts as used along with this one.
    const size_t backward = by_name_.at(entry.backward);
    used_signals_[backward] = true;
    if (is_backward) taken = &file_.signals[backward];
  }
  taken_signals_[static_cast<size_t>(taken - file_.signals.data())] = true;
  return taken;
}

Result<Scope> Config::find(std::string_view signal, bool is_backward) const {
  ScopeMerge merge(file_);
  std::string_view region;
  for (size_t end = 0; end < signal.size(); ++end) {
    const size_t begin = end;
    end = std::min(signal.find('/', begin), signal.size());
    const ConfigEntry* entry = entry_of(signal.substr(0, end));
    if (entry == nullptr) {
      const std::string_view scope = signal.substr(begin, end - begin);
      if (silent_.size() < kMaxSilent) silent_.emplace(scope);
      continue;
    }
    entry = use(*entry, is_backward);
    if (Status s = merge.add(*entry); !s.ok()) {
      return Error{place(entry->line) + ": " + quoted(*entry) + ": " +
                   s.error().message};
    }
    if (entry->scope.recompute) region = signal.substr(0, end);
  }
  Scope scope = merge.scope();
  scope.region = region;
  return scope;
}

const Scope* Config::tensor(std::string_view name) const {
  for (size_t i = 0; i < file_.tensors.size(); ++i) {
    if (!glob_matches(file_.tensors[i].name, name)) continue;
    used_tensors_[i] = true;
    return &file_.tensors[i].scope;
  }
  if (!file_.tensors.empty() && silent_tensors_.size() < kMaxSilent &&
      !silent_tensors_.contains(name)) {
    silent_tensors_.emplace(name);
  }
  return nullptr;
}

std::string Config::message_at(size_t line) const {
  return place(line) + (file_.is_own_form ? ": " : ": warning: ");
}

// Returns true if the entry has an effect by saying where its lines run. That
// is so in GT's form, where a scope that creates no tensor may still be a stage
// of a pipeline.
bool Config::places_lines(const ConfigEntry& entry) const {
  const auto& ranks = entry.scope.ranks;
  return !file_.is_own_form && ranks &&
         static_cast<int64_t>(ranks->size()) < file_.mesh.size();
}

void Config::add_without_effect(const ConfigEntry& entry,
                                const std::string& what, const CutsInUse& cuts,
                                std::vector<std::string>& messages) const {
  std::map<std::string, std::pair<size_t, bool>> axes;  // first line, is used
  for (const auto* setting : {&entry.scope.shard, &entry.scope.results}) {
    if (!*setting) continue;
    for (const SplitEntry& cut : (*setting)->cuts) {
      auto& [line, is_used] = axes[cut.axis];
      if (line == 0) line = (*setting)->line;
      is_used |= cuts.contains({(*setting)->number, cut.axis});
    }
  }
  for (const auto& [axis, found] : axes) {
    if (found.second) continue;
    messages.push_back(message_at(found.first) + what +
                       " cuts no tensor over " + axis +
                       ": none that it is for has such a dimension, in such "
                       "units; take another, or say optional: true");
  }
}

std::vector<std::string> Config::without_effect(const CutsInUse& cuts) const {
  std::vector<std::string> messages;
  // The entries that others name as their `backward`. Gradients are cut like
  // the values whose gradients they are, so such an entry may cut nothing by
  // itself.
  std::set<std::string_view> backward;
  for (const ConfigEntry& entry : file_.signals) {
    if (!entry.backward.empty()) backward.insert(entry.backward);
  }
  for (size_t i = 0; i < file_.signals.size(); ++i) {
    const ConfigEntry& entry = file_.signals[i];
    if (!taken_signals_[i] || entry.is_optional) continue;
    if (backward.contains(entry.name) || places_lines(entry)) continue;
    add_without_effect(entry, quoted(entry), cuts, messages);
  }
  for (size_t i = 0; i < file_.tensors.size(); ++i) {
    const ConfigEntry& entry = file_.tensors[i];
    if (!used_tensors_[i] || entry.is_optional) continue;
    add_without_effect(entry, "'" + excerpt(entry.name) + "'", cuts, messages);
  }
  return messages;
}

std::vector<std::string> Config::without_notes() const {
  std::vector<std::string> messages;
  for (const size_t line : kept_) {
    if (!backward_.contains(line)) continue;
    messages.push_back(message_at(line) +
                       "recompute: has no effect on lines that came without "
                       "#recompute; give the config to gt-emit, too: gt-emit "
                       "-c " +
                       file_.file);
  }
  return messages;
}

std::vector<std::string> Config::unused() const {
  std::vector<std::string> messages;
  const std::vector<std::string_view> silent(silent_.begin(), silent_.end());
  const std::vector<std::string_view> tensors(silent_tensors_.begin(),
                                              silent_tensors_.end());
  for_each_unused(file_.signals, used_signals_, [&](const ConfigEntry& entry) {
    messages.push_back(message_at(entry.line) + quoted(entry) +
                       " is used by no line" +
                       did_you_mean(entry.name, silent));
  });
  for_each_unused(file_.tensors, used_tensors_, [&](const ConfigEntry& entry) {
    messages.push_back(message_at(entry.line) + "'" + excerpt(entry.name) +
                       "' matches no tensor's name, or only those that a "
                       "pattern above it matches" +
                       did_you_mean(entry.name, tensors));
  });
  return messages;
}

}  // namespace gt::shard
