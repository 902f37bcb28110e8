#include "log/select.h"

#include <algorithm>
#include <functional>

#include "stream/ranks.h"

namespace gt::log {
namespace {

using Globs = std::vector<std::string>;

// Returns the globs of "a*,b", without empty ones.
Globs split(std::string_view list) {
  Globs out;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    if (end > at) out.emplace_back(list.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

Status add_lists(const char* option, const std::vector<std::string>& lists,
                 std::vector<Globs>& to) {
  for (const std::string& list : lists) {
    to.push_back(split(list));
    if (to.back().empty()) {
      return Error{std::string(option) + ": '' matches nothing; '*' is all"};
    }
  }
  return ok_status();
}

bool any_matches(const Globs& globs, std::string_view text) {
  return std::any_of(globs.begin(), globs.end(), [text](const std::string& g) {
    return glob_matches(g, text);
  });
}

// Calls visit(name, ranks) for results and operands until it returns true.
bool any_name(
    const Line& line,
    const std::function<bool(std::string_view, std::string_view)>& visit) {
  for (const Name& name : line.results) {
    if (visit(name.text, name.ranks)) return true;
  }
  for (const Operand& operand : line.operands) {
    if (operand.kind == Operand::Kind::kName &&
        visit(operand.text, operand.ranks)) {
      return true;
    }
  }
  return false;
}

bool meets(std::string_view ranks, const std::vector<int64_t>& wanted) {
  if (ranks.empty()) return false;
  const auto set = parse_ranks(ranks);
  return set.ok() &&
         std::any_of(
             set.value().begin(), set.value().end(), [&wanted](int64_t rank) {
               return std::binary_search(wanted.begin(), wanted.end(), rank);
             });
}

// Returns "c1" for c1/act/h; "" for a name in no name space.
std::string_view space_of(std::string_view name) {
  const size_t slash = name.find('/');
  return slash == std::string_view::npos ? std::string_view{}
                                         : name.substr(0, slash);
}

}  // namespace

Result<Selection> Selection::make(const SelectOptions& options) {
  Selection out;
  out.invert_ = options.invert;
  for (const Status& s :
       {add_lists("--op", options.ops, out.ops_),
        add_lists("--name", options.names, out.names_),
        add_lists("--signal", options.signals, out.signals_),
        add_lists("--client", options.clients, out.clients_)}) {
    if (!s.ok()) return s.error();
  }
  for (const std::string& set : options.ranks) {
    auto ranks = parse_ranks(set);
    if (!ranks.ok()) return Error{"--rank: " + ranks.error().message};
    std::sort(ranks.value().begin(), ranks.value().end());
    out.ranks_.push_back(std::move(ranks.value()));
  }
  return out;
}

Subject subject_of(const Input& input, Line& line, std::string& text) {
  Subject subject;
  if (!parse_line(input.text(), line).ok()) return subject;
  subject.line = &line;
  const std::string_view* note = line.note("signal");
  std::string_view signal = note == nullptr ? std::string_view{} : *note;
  if (input.form() == Input::Form::kTrace) {
    const TraceRow& row = input.trace_row();
    if (row.signal != "-") signal = row.signal;
    if (row.rank != "-") subject.ranks = row.rank;
  } else if (input.form() == Input::Form::kLog &&
             input.log_row().client != "-") {
    subject.client = input.log_row().client;
  }
  if (signal.starts_with('"')) {
    text = unquote(signal);
    signal = text;
  }
  subject.signal = signal;
  return subject;
}

bool Selection::matches(const Subject& subject) const {
  return (subject.line != nullptr && matches_all(subject)) != invert_;
}

bool Selection::matches_all(const Subject& subject) const {
  const Line& line = *subject.line;
  const auto named = [&line](const Globs& globs) {
    return any_name(line, [&globs](auto name, auto /*ranks*/) {
      return any_matches(globs, name);
    });
  };
  const auto noted = [&subject](const Globs& globs) {
    return !subject.signal.empty() && any_matches(globs, subject.signal);
  };
  const auto owned = [&](const Globs& globs) {
    if (!subject.client.empty()) return any_matches(globs, subject.client);
    return any_name(line, [&globs](auto name, auto /*ranks*/) {
      const std::string_view space = space_of(name);
      return !space.empty() && any_matches(globs, space);
    });
  };
  const auto placed = [&](const std::vector<int64_t>& wanted) {
    return meets(subject.ranks, wanted) ||
           any_name(line, [&wanted](auto /*name*/, auto ranks) {
             return meets(ranks, wanted);
           });
  };
  const auto done = [&line](const Globs& globs) {
    return any_matches(globs, line.op);
  };
  return std::all_of(ops_.begin(), ops_.end(), done) &&
         std::all_of(names_.begin(), names_.end(), named) &&
         std::all_of(signals_.begin(), signals_.end(), noted) &&
         std::all_of(clients_.begin(), clients_.end(), owned) &&
         std::all_of(ranks_.begin(), ranks_.end(), placed);
}

}  // namespace gt::log
