#include "client/session.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "client/call_text.h"
#include "client/save_calls.h"
#include "client/scopes.h"
#include "client/where.h"
#include "ops/table.h"
#include "stream/line.h"
#include "stream/marks.h"

namespace gt::client {
namespace {

// Returns the value that the call's result is bound to, or null if it is a new
// value.
gt_value* place_of_result(const gt_instruction& call, size_t result) {
  return call.into == nullptr ? nullptr : call.into[result];
}

// An array whose size is known at run time; it allocates only if the size is
// above kFew.
template <typename T, size_t kFew>
class Room {
 public:
  explicit Room(size_t size) : size_(size) {
    if (size > kFew) many_.resize(size);
  }
  std::span<T> all() {
    return {many_.empty() ? few_.data() : many_.data(), size_};
  }

 private:
  size_t size_;
  std::array<T, kFew> few_{};
  std::vector<T> many_;
};

}  // namespace

// ---- opening and closing ----------------------------------------------------

std::unique_ptr<Session> Session::open(std::string_view where) {
  std::unique_ptr<Session> out(new Session);
  out->channel_.start(where);
  out->paths_.start(!out->channel_.joined().empty());
  out->files_.start();
  return out;
}

Session::~Session() {
  if (!channel_.was_started() || !is_open()) return;
  try {
    Exit status = Exit::kDone;
    close(status);
  } catch (const Failure&) {
    // A destructor can report it to nobody.
  }
}

void Session::close(Exit& status) {
  try {
    Channel::Lock lock = channel_.enter();
    files_.wait_for_loads(lock);
  } catch (const Failure&) {
    // The exit status or the following calls report the loss.
  }
  status = channel_.close();
  files_.end(status);
  channel_.check_log();
  channel_.check_end();
}

void Session::forget() {
  channel_.forget();
  files_.forget();
}

void Session::begin_lines() {
  text_.clear();
  files_.append_sync(text_);
  names_.append_free(text_);
}

void Session::sync() {
  Channel::Lock lock = channel_.enter();
  if (!channel_.has_way_back()) return;
  channel_.open_back();
  begin_lines();
  text_ += kSync;
  channel_.ask(text_, lock);
  channel_.check_shown();
  channel_.check_log();
  lock.unlock();
  channel_.check_failures();
}

// ---- values -----------------------------------------------------------------

const gt_value& Session::checked(const gt_value* value) const {
  if (value == nullptr) {
    fail(GT_WRONG, "an operand is a tensor that holds nothing");
  }
  if (value->session != this) {
    fail(GT_WRONG, "an operand is a tensor of another session");
  }
  return *value;
}

void Session::set_type(gt_value& value, TypeId type) {
  value.type = type;
  value.shown = table_.shown(type);
}

gt_value* Session::make_value(Names::Name name, TypeId type, Reach reach) {
  auto* value = new gt_value;
  value->session = this;
  value->name = std::move(name);
  value->reach = reach;
  value->made = value->bound = ++serial_;
  set_type(*value, type);
  value->after = values_;
  if (values_ != nullptr) values_->before = value;
  values_ = value;
  return value;
}

void Session::drop(gt_value* value) noexcept {
  const Channel::Lock lock(channel_.mutex());
  drop_locked(value);
}

void Session::drop_locked(gt_value* value) noexcept {
  if (gt_value* gradient = value->gradient) {
    if (gradient->owners.fetch_sub(1) == 1) drop_locked(gradient);
  }
  leaves_.remove(*value);
  if (value->has_file) files_.leave(*value);
  (value->before == nullptr ? values_ : value->before->after) = value->after;
  if (value->after != nullptr) value->after->before = value->before;
  names_.give(value->name);
  delete value;
}

// ---- lines ------------------------------------------------------------------

void Session::call(const gt_instruction& call, gt_value** results) {
  Channel::Lock lock = channel_.enter();
  const std::span words(call.operands, call.operand_count);
  const auto text = std::ranges::find(words, GT_STRING, &gt_word::kind);
  if (text == words.end()) return write_call(call, results, lock);
  const Statement statement = statement_of(call.op);
  if (statement != Statement::kLoad && statement != Statement::kSave) {
    return write_call(call, results, lock);
  }
  const std::string path = paths_.written({text->text, text->size});
  std::vector<gt_word> operands(words.begin(), words.end());
  gt_word& written = operands[static_cast<size_t>(text - words.begin())];
  written.text = path.data();
  written.size = path.size();
  gt_instruction placed = call;
  placed.operands = operands.data();
  write_call(placed, results, lock);
  if (statement == Statement::kSave && operands[0].kind == GT_VALUE) {
    paths_.note_saved(path, table_.type(operands[0].value->type));
  }
}

void Session::name_results(const gt_instruction& call, const CallTypes& made,
                           std::span<Names::Name> names) {
  for (size_t i = 0; i < names.size(); ++i) {
    const gt_value* into = place_of_result(call, i);
    const char* chosen = call.names == nullptr ? nullptr : call.names[i];
    if (into != nullptr) {
      if (std::find(call.into, call.into + i, into) != call.into + i) {
        fail(GT_WRONG, std::string(call.op) + ": '" + into->name.text +
                           "' is to hold two of its results");
      }
      if (checked(into).type != made.results[i]) {
        fail(GT_WRONG, std::string(call.op) + ": its result, " +
                           to_string(table_.type(made.results[i])) +
                           ", cannot take the place of " +
                           to_string(table_.type(into->type)));
      }
      names[i] = into->name;
    } else if (chosen != nullptr && *chosen != '\0') {
      auto name = names_.take(chosen, Where::of(call.at));
      if (!name.ok()) {
        for (size_t j = 0; j < i; ++j) {
          if (place_of_result(call, j) == nullptr) names_.give(names[j]);
        }
        fail(GT_WRONG, name.error().message);
      }
      names[i] = std::move(name.value());
    } else {
      names[i] = names_.take();
    }
  }
}

// Fails if the call makes a new value but the caller gives no room for it.
static void check_results(const gt_instruction& call, gt_value** results) {
  if (results != nullptr) return;
  for (size_t i = 0; i < call.result_count; ++i) {
    if (place_of_result(call, i) == nullptr) {
      fail(GT_WRONG, std::string(call.op) + ": no room for its results");
    }
  }
}

// Checks a `grad` call: the program knows a target by its name alone, so the
// target must have had it when the loss was computed.
static void check_targets(const gt_instruction& call) {
  const gt_value& loss = *call.operands[0].value;
  for (size_t i = 1; i < call.operand_count; ++i) {
    const gt_value& target = *call.operands[i].value;
    if (target.renamed < loss.bound) continue;
    fail(GT_WRONG, "grad: '" + target.name.text +
                       "' was given that name after the loss '" +
                       loss.name.text +
                       "' was computed, which depends on it by its old one: "
                       "name it before that, or compute the loss again");
  }
}

// Appends the key reused= of a `grad` call, which lists targets that the loss
// cannot depend on although an older value had their name: they are newer than
// the loss, or their name is ours and was used before. Without the key gt-emit
// would take them for the older value. A target that was changed in place since
// it was made is not listed, since its old value may be meant.
static void append_reused(const gt_instruction& call, std::string& out) {
  const std::span keys(call.keys, call.key_count);
  const auto is_said = [](const gt_key& key) {
    return std::string_view(key.name) == "reused";
  };
  if (std::ranges::any_of(keys, is_said)) return;
  const gt_value& loss = *call.operands[0].value;
  char before = '=';
  for (size_t i = 1; i < call.operand_count; ++i) {
    const gt_value& target = *call.operands[i].value;
    const bool is_changed = target.bound != target.made;
    const bool is_later = target.made > loss.bound;
    if (!is_later && (is_changed || !target.name.is_reused)) continue;
    if (before == '=') out += " reused";
    out += std::exchange(before, ',') + std::to_string(i - 1);
  }
}

// Fails if the call would give a value with a history to a leaf.
static void check_leaves(const gt_instruction& call) {
  for (size_t i = 0; i < call.result_count; ++i) {
    const gt_value* into = place_of_result(call, i);
    if (into == nullptr || into->leaf == kNoLeaf) continue;
    fail(GT_WRONG, std::string(call.op) + ": '" + into->name.text +
                       "' requires a gradient, and cannot be changed in "
                       "place but within no_grad or by an optimizer");
  }
}

// True if no_grad cuts the results off from the history of the operands.
static bool is_cut(const gt_instruction& call, const CallTypes& made) {
  const std::span words(call.operands, call.operand_count);
  return Scopes::of_thread().no_grad > 0 && !made.is_leaf &&
         call.result_count > 0 &&
         std::ranges::find(words, GT_VALUE, &gt_word::kind) != words.end();
}

// Sets types[i] to the type of operand i, or to kNoType if it is not a value.
void Session::find_types(const gt_instruction& call,
                         std::span<TypeId> types) const {
  for (size_t i = 0; i < types.size(); ++i) {
    const gt_word& word = call.operands[i];
    types[i] =
        word.kind == GT_VALUE ? checked(word.value).type : CallTable::kNoType;
  }
}

bool Session::has_gradient(TypeId type) const {
  return is_float(table_.type(type).dtype);
}

// Appends the call's line and, if no_grad holds, the lines that detach its
// results.
void Session::append_lines(const gt_instruction& call, const CallTypes& made,
                           std::span<const Names::Name> names) {
  append_call(call, names, text_);
  if (made.op->row->statement == Statement::kGrad) append_reused(call, text_);
  places_.append_end(call.at, text_);
  if (!is_cut(call, made)) return;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!has_gradient(made.results[i])) continue;
    text_ += names[i].text + " = detach " + names[i].text;
    places_.append_end(call.at, text_);
  }
}

// Makes the new values, and notes the new bindings of old ones. `reach` is the
// reach of the results whose dtype can have a gradient.
void Session::bind_results(const gt_instruction& call, const CallTypes& made,
                           Reach reach, std::span<Names::Name> names,
                           gt_value** results) {
  for (size_t i = 0; i < names.size(); ++i) {
    gt_value* into = place_of_result(call, i);
    const Reach got = has_gradient(made.results[i]) ? reach : Reaches::kNone;
    if (into == nullptr) {
      results[i] = make_value(std::move(names[i]), made.results[i], got);
      continue;
    }
    if (results != nullptr) results[i] = into;
    into->bound = ++serial_;
    if (into->has_file) files_.leave(*into);
    if (into->leaf == kNoLeaf) into->reach = got;
  }
}

void Session::drop_new(const gt_instruction& call, gt_value** results) {
  for (size_t i = 0; i < call.result_count; ++i) {
    if (place_of_result(call, i) == nullptr) drop_locked(results[i]);
  }
}

const CallTypes& Session::types_of(const gt_instruction& call) {
  Room<TypeId, 8> types(call.operand_count);
  find_types(call, types.all());
  return *value_or_fail(table_.find(call, types.all()), GT_WRONG);
}

void Session::write_call(const gt_instruction& call, gt_value** results,
                         Channel::Lock& lock) {
  const CallTypes& made = types_of(call);
  check_results(call, results);
  const bool is_new = made.is_leaf || is_cut(call, made);
  const Reach reach = is_new ? Reaches::kNone : leaves_.reach_of(call);
  if (!is_new) check_leaves(call);
  if (made.op->row->statement == Statement::kGrad) check_targets(call);
  Room<Names::Name, 4> names(call.result_count);
  name_results(call, made, names.all());
  begin_lines();
  append_lines(call, made, names.all());
  bind_results(call, made, reach, names.all(), results);
  leaves_.tidy(values_);
  try {
    channel_.send(text_, lock);
  } catch (const Failure&) {
    drop_new(call, results);
    throw;
  }
}

// The lines go out at once and between two marks, so that no other thread's
// lines stand among them, and that none of them is heeded before all have come
// (stream/marks.h).
void Session::save(const std::string& file, std::span<gt_value* const> values,
                   std::span<const char* const> names, gt_place at) {
  Channel::Lock lock = channel_.enter();
  const SaveCalls saves(paths_.written(file), values, names, at);
  for (const gt_instruction& call : saves.calls()) types_of(call);
  begin_lines();
  text_.append(kSavesBegin).append("\n");
  for (const gt_instruction& call : saves.calls()) {
    append_lines(call, types_of(call), {});
  }
  text_.append(kSavesEnd).append("\n");
  channel_.send(text_, lock);
  for (size_t i = 0; i < values.size(); ++i) {
    paths_.note_saved(saves.place(i), table_.type(values[i]->type));
  }
}

void Session::rename(gt_value& value, std::string_view chosen, gt_place at) {
  Channel::Lock lock = channel_.enter();
  if (value.name.text == chosen) return;
  auto name = names_.take(chosen, Where::of(at));
  if (!name.ok()) fail(GT_WRONG, name.error().message);
  begin_lines();
  text_ += name.value().text + " = copy " + value.name.text;
  places_.append_end(at, text_);
  names_.give(value.name);
  value.name = std::move(name.value());
  value.renamed = ++serial_;
  channel_.send(text_, lock);
}

// Parses a line given to line(). Fails if it is none, or a mark, or asks for a
// result.
static Line line_of(std::string_view text) {
  Line line;
  const Status parsed = parse_line(text, line);
  if (!parsed.ok() || text.find('\n') != std::string_view::npos) {
    fail(GT_WRONG,
         "no line of a program: " +
             (parsed.ok() ? "it has a line feed" : parsed.error().message));
  }
  const bool is_mark =
      text.starts_with("#sync") || text.starts_with("#saves") ||
      (text.starts_with('#') && Marks().take(text) != Marks::Mark::kNone);
  if (is_mark || is_output(statement_of(line.op))) {
    fail(GT_WRONG,
         "marks, and lines that ask for a result, are not for line()");
  }
  return line;
}

// Fails if a line given to line() binds or frees a name of tensors.
static void check_names(const Line& line, const Names& names) {
  const auto refuse = [](std::string_view name) {
    fail(GT_WRONG, "'" + std::string(name) +
                       "' is a name of tensors (t0, t1 and so on are those "
                       "without one of their own), which line() cannot bind or "
                       "free");
  };
  for (const Name& result : line.results) {
    if (names.is_kept(result.text)) refuse(result.text);
  }
  if (statement_of(line.op) != Statement::kFree) return;
  for (const Operand& operand : line.operands) {
    const bool is_kept = operand.kind == Operand::Kind::kGlob
                             ? names.keeps_any(operand.text)
                             : names.is_kept(operand.text);
    if (is_kept) refuse(operand.text);
  }
}

void Session::line(std::string_view text) {
  Channel::Lock lock = channel_.enter();
  const Line line = line_of(text);
  check_names(line, names_);
  begin_lines();
  text_ += text;
  text_ += '\n';
  channel_.send(text_, lock);
}

}  // namespace gt::client
