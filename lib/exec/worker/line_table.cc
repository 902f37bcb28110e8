#include "exec/worker/line_table.h"

#include <algorithm>

#include "base/text.h"
#include "exec/decode/exchange_decoder.h"

namespace gt::exec {
namespace {

using Action = LineEntry::Action;

}  // namespace

LineEntry* LineTable::find(const NotedText& line, uint64_t hash,
                           Where& origin) {
  LineEntry* entry =
      lines_.find(hash, line.text, [this, &line](LineEntry& candidate) {
        return is_valid(candidate) && take_notes(candidate, line.notes);
      });
  if (entry != nullptr && entry->at.file != nullptr) origin = entry->at;
  return entry;
}

bool LineTable::is_valid(const LineEntry& entry) const {
  if (entry.action == Action::kParts) {
    return entry.mesh_version == version() &&
           std::all_of(entry.parts.begin(), entry.parts.end(),
                       [this](const auto& part) { return is_valid(*part); });
  }
  for (const LineResult& result : entry.results) {
    if (registers_[result.id].stamp.generation != result.generation) {
      return false;
    }
  }
  if (entry.action == Action::kFree) {
    return std::all_of(entry.operands.begin(), entry.operands.end(),
                       [this](const LineOperand& operand) {
                         const Register& r = registers_[operand.id];
                         return r.is_live() &&
                                r.stamp.generation == operand.stamp.generation;
                       });
  }
  const auto is_changed = [this](const LineOperand& operand) {
    return operand.is_register && registers_[operand.id].stamp != operand.stamp;
  };
  return std::none_of(entry.operands.begin(), entry.operands.end(),
                      is_changed) &&
         std::none_of(entry.watched.begin(), entry.watched.end(), is_changed);
}

bool LineTable::is_dead(const LineEntry& entry) const {
  if (entry.action == Action::kParts) {
    return entry.mesh_version != version() ||
           std::any_of(entry.parts.begin(), entry.parts.end(),
                       [this](const auto& part) { return is_dead(*part); });
  }
  const auto is_other = [this](const LineOperand& operand) {
    return operand.is_register &&
           registers_[operand.id].stamp.generation != operand.stamp.generation;
  };
  return std::any_of(entry.operands.begin(), entry.operands.end(), is_other) ||
         std::any_of(entry.watched.begin(), entry.watched.end(), is_other) ||
         std::any_of(entry.results.begin(), entry.results.end(),
                     [this](const LineResult& result) {
                       return registers_[result.id].stamp.generation !=
                              result.generation;
                     });
}

// Gives the entry the line's notes. False if they are malformed, or change what
// the line means.
bool LineTable::take_notes(LineEntry& entry, std::string_view notes) {
  if (notes == entry.notes || has_moved(entry, notes)) return true;
  if (notes.empty()) {
    if (!entry.exchange_notes.empty()) return false;
    keep_notes(entry, {}, {});
    return true;
  }
  const std::string text = "x " + std::string(notes);
  Line line;
  if (is_full() || !parse_line(text, line).ok() ||
      (hosting_ != nullptr && exchange_notes(line) != entry.exchange_notes)) {
    return false;
  }
  keep_notes(entry, notes, place_of(line));
  return true;
}

void LineTable::set_notes(LineEntry& entry, const Line& line,
                          std::string_view notes, const Where& at) {
  keep_notes(entry, notes, at);
  entry.mesh_version = version();
  if (hosting_ != nullptr) entry.exchange_notes = exchange_notes(line);
}

void LineTable::keep_notes(LineEntry& entry, std::string_view notes,
                           const Where& at) {
  entry.notes = notes;
  entry.at = at;
  entry.at_digits = notes.size();
  trace_.forget(entry);
  for (const auto& part : entry.parts) {
    part->notes = notes;
    trace_.forget(*part);
  }
  const size_t number = number_at_end(notes);
  const size_t word = notes.find_last_of(" \t", number) + 1;
  const bool is_place = at.file != nullptr && at.line != 0 &&
                        notes.substr(word).starts_with("#at=");
  if (is_place) entry.at_digits = number;
}

// Fast path of take_notes(): true if the notes differ only in the line number
// at their end. gt-emit writes such notes for a program that repeats an
// instruction.
bool LineTable::has_moved(LineEntry& entry, std::string_view notes) {
  uint64_t number = 0;
  if (!are_moved(notes, entry.notes, entry.at_digits) ||
      !read_number(notes.substr(entry.at_digits), number)) {
    return false;
  }
  entry.at.line = number;
  entry.notes = notes;
  return true;
}

void LineTable::add(std::unique_ptr<LineEntry> entry, uint64_t hash) {
  if (entry->is_lasting && lines_.wants(hash, entry->text)) {
    entry = lines_.insert(hash, std::move(entry), [this](const LineEntry& old) {
      return is_dead(old);
    });
  }
  // Tasks on the queue may still refer to the removed entry.
  if (entry != nullptr) compute_.dispose(std::move(entry));
}

Where LineTable::place_of(const Line& line) {
  const std::string_view* note = line.note("at");
  if (note == nullptr) return {};
  NotedPlace place = parse_place(*note);
  return {&*files_.insert(std::move(place.file)).first, place.line};
}

void LineTable::clear() {
  lines_.clear();
  files_.clear();
}

}  // namespace gt::exec
