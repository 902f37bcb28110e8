#include "client/session.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/text.h"
#include "client/call_text.h"
#include "client/scopes.h"
#include "client/where.h"
#include "ops/table.h"
#include "stream/line.h"
#include "stream/marks.h"

namespace gt::client {
namespace {

std::string setting(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? fallback : value;
}

// Opens what another program writes results into; `grows`: a regular file.
Fd open_results(const std::string& path, bool& grows) {
  Fd back(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat about {};
  if (!back.ok() || ::fstat(back.get(), &about) != 0) {
    fail(GT_FILE, "GT_BACK: cannot open " + path + ": " + std::strerror(errno));
  }
  grows = S_ISREG(about.st_mode);
  if (!grows && !S_ISFIFO(about.st_mode)) {
    fail(GT_FILE, "GT_BACK: " + path + " is neither a FIFO nor a file");
  }
  return back;
}

}  // namespace

// ---- opening and closing ----------------------------------------------------

std::shared_ptr<Session> Session::open(std::string_view where) {
  std::shared_ptr<Session> out(new Session);
  out->start(where);
  return out;
}

void Session::start(std::string_view where) {
  const Command emit = {program_path("gt-emit")};
  std::vector<Command> commands = {emit};
  const std::string config = setting("GT_CONFIG", "");
  if (!config.empty() && where != "-") {
    commands.push_back({program_path("gt-shard"), "-c", config});
  }
  const std::string workers = setting("GT_WORKERS", "");
  if (where.empty() && workers.empty()) {
    commands.push_back({program_path("gt-work")});  // one needs no gt-route
  } else if (where.empty()) {
    commands.push_back({program_path("gt-route"), "-n", workers});
  } else if (where != "-") {
    if (config.empty()) commands.clear();
    Command join = {program_path("gt-emit"), "--to"};
    for (const std::string_view word : words_of(where)) join.emplace_back(word);
    courier_.join(join, [this] {
      const Link::Lock lock(mutex_);
      return is_closed_ || !pipeline_.ended().empty();
    });
    commands.push_back(std::move(join));
  }
  const bool is_open = where == "-";
  value_or_fail(pipeline_.start(commands, is_open), GT_LOST);
  link_ = std::make_unique<Link>(std::move(pipeline_.lines()), mutex_,
                                 [this](std::string_view line) {
                                   inbox_.take(line);
                                   if (!inbox_.shows())
                                     link_->watch_results(false);
                                 });
  gives_results_ = !is_open;
  if (is_open) inbox_.show_on(stderr);  // standard output is the stream
  if (gives_results_) {
    const Link::Lock lock(mutex_);
    link_->set_results(std::move(pipeline_.results()), false);
  }
}

bool Session::has_way_back() const {
  return gives_results_ || !setting("GT_BACK", "").empty();
}

// Where the results come from if others than we run the stream.
void Session::open_back() {
  if (link_->has_results()) return;
  const std::string path = setting("GT_BACK", "");
  if (path.empty()) {
    fail(GT_WRONG,
         "the stream goes to standard output, and no result comes back: let "
         "GT_BACK name the FIFO or file that the last program of the pipeline "
         "writes, or leave GT_CONNECT unset");
  }
  bool grows = false;
  Fd back = open_results(path, grows);
  link_->set_results(std::move(back), grows);
}

Session::~Session() {
  const bool was_started = link_ != nullptr;
  if (!was_started || is_closed_ || is_forked_) return;
  try {
    close();
  } catch (const Failure&) {
    // There is nobody left to tell.
  }
}

Exit Session::close() {
  {
    Link::Lock lock(mutex_);
    check_open();
    is_closed_ = true;
    // A program of no lines, and not a pipe into which nothing came.
    if (link_->is_unused()) link_->write("#\n", lock);
    // Others that run the stream read it to its end, which comes with ours.
    link_->finish([&] { return !gives_results_ && inbox_.empty(); }, lock);
  }
  link_->stop();
  if (log_ != nullptr) std::fclose(log_);
  log_ = nullptr;
  const Exit status = pipeline_.wait();
  courier_.end(status == Exit::kLost);
  store_.remove();
  return inbox_.show_error() == 0 ? status : worst(status, Exit::kUsage);
}

void Session::forget() {
  is_forked_ = true;
  if (link_ != nullptr) link_->forget();
  courier_.let_go();
}

void Session::check_open() const {
  if (is_forked_) {
    fail(GT_LOST,
         "this process was forked from the one that opened the session, which "
         "alone may use it: open another");
  }
  if (is_closed_) fail(GT_LOST, "the session is closed");
}

void Session::fail_lost(const char* what) {
  check_open();  // or another thread has closed it meanwhile
  std::string why = pipeline_.ended();
  for (int wait = 0; why.empty() && wait < 50; ++wait) {
    ::usleep(10'000);  // its ends close a moment before it is gone
    why = pipeline_.ended();
  }
  if (why.empty()) why = "it ended early";
  fail(GT_LOST, std::string(what) + ": " + why +
                    "; what it said stands on standard error");
}

void Session::send(std::string_view text, Link::Lock& lock) {
  if (log_ != nullptr) std::fwrite(text.data(), 1, text.size(), log_);
  if (!link_->write(text, lock)) {
    fail_lost("the program that runs the lines is gone");
  }
}

void Session::begin_lines() {
  text_.clear();
  names_.append_free(text_);
}

std::string Session::ask(Link::Lock& lock) {
  const auto answer = inbox_.expect();
  send(text_, lock);
  if (!link_->wait([&] { return answer->is_there; }, lock)) {
    fail_lost("the program ended before a result came");
  }
  return std::move(answer->line);
}

void Session::sync() {
  Link::Lock lock(mutex_);
  check_open();
  if (!has_way_back()) return;
  open_back();
  begin_lines();
  text_ += kSync;
  ask(lock);
  if (const int error = inbox_.show_error()) {
    fail(GT_FILE, std::string("cannot print: ") + std::strerror(error));
  }
}

void Session::log_to(std::string_view path) {
  const Link::Lock lock(mutex_);
  check_open();
  if (log_ != nullptr) std::fclose(log_);
  log_ = nullptr;
  if (path.empty()) return;
  log_ = std::fopen(std::string(path).c_str(), "we");
  if (log_ == nullptr) {
    fail(GT_FILE,
         "cannot write " + std::string(path) + ": " + std::strerror(errno));
  }
}

// ---- values -----------------------------------------------------------------

const gt_value& Session::checked(const gt_value* value) const {
  if (value == nullptr) {
    fail(GT_WRONG, "an operand is a tensor that holds nothing");
  }
  if (value->session.get() != this) {
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
  value->session = shared_from_this();
  value->name = std::move(name);
  value->reach = reach;
  set_type(*value, type);
  value->after = values_;
  if (values_ != nullptr) values_->before = value;
  values_ = value;
  return value;
}

void Session::drop(gt_value* value) noexcept {
  const std::shared_ptr<Session> keep = value->session;
  const Link::Lock lock(mutex_);
  drop_locked(value);
}

void Session::drop_locked(gt_value* value) noexcept {
  if (gt_value* gradient = value->gradient) {
    if (gradient->owners.fetch_sub(1) == 1) drop_locked(gradient);
  }
  leaves_.remove(*value);
  (value->before == nullptr ? values_ : value->before->after) = value->after;
  if (value->after != nullptr) value->after->before = value->before;
  names_.give(value->name);
  delete value;
}

// ---- lines ------------------------------------------------------------------

void Session::call(const gt_instruction& call, gt_value** results) {
  Link::Lock lock(mutex_);
  check_open();
  write_call(call, results, lock);
}

void Session::name_results(const gt_instruction& call, const CallTypes& made,
                           std::span<Names::Name> names) {
  for (size_t i = 0; i < names.size(); ++i) {
    const gt_value* into = call.into == nullptr ? nullptr : call.into[i];
    const char* chosen = call.names == nullptr ? nullptr : call.names[i];
    if (into != nullptr) {
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
          if (call.into == nullptr || call.into[j] == nullptr) {
            names_.give(names[j]);
          }
        }
        fail(GT_WRONG, name.error().message);
      }
      names[i] = std::move(name.value());
    } else {
      names[i] = names_.take();
    }
  }
}

void Session::write_call(const gt_instruction& call, gt_value** results,
                         Link::Lock& lock) {
  std::array<TypeId, 8> few;
  std::vector<TypeId> many;
  if (call.operand_count > few.size()) many.resize(call.operand_count);
  const std::span<TypeId> types(many.empty() ? few.data() : many.data(),
                                call.operand_count);
  bool has_values = false;
  for (size_t i = 0; i < call.operand_count; ++i) {
    types[i] = CallTable::kNoType;
    if (call.operands[i].kind != GT_VALUE) continue;
    types[i] = checked(call.operands[i].value).type;
    has_values = true;
  }
  const CallTypes& made = *value_or_fail(table_.find(call, types), GT_WRONG);
  const size_t count = call.result_count;
  const bool is_cut = has_values && !made.is_leaf && count > 0 &&
                      Scopes::of_thread().no_grad > 0;
  const Reach reach =
      made.is_leaf || is_cut ? Reaches::kNone : leaves_.reach_of(call);
  for (size_t i = 0; call.into != nullptr && i < count; ++i) {
    if (call.into[i] != nullptr && call.into[i]->leaf != kNoLeaf &&
        !made.is_leaf && !is_cut) {
      fail(GT_WRONG, std::string(call.op) + ": '" + call.into[i]->name.text +
                         "' requires a gradient, and cannot be changed in "
                         "place but within no_grad or by an optimizer");
    }
  }
  std::array<Names::Name, 4> few_names;
  std::vector<Names::Name> many_names;
  if (count > few_names.size()) many_names.resize(count);
  const std::span<Names::Name> names(
      many_names.empty() ? few_names.data() : many_names.data(), count);
  name_results(call, made, names);
  begin_lines();
  append_call(call, names, text_);
  append_end(call.at, text_);
  for (size_t i = 0; is_cut && i < count; ++i) {
    if (!is_float(table_.type(made.results[i]).dtype)) continue;
    text_ += names[i].text + " = detach " + names[i].text;
    append_end(call.at, text_);
  }
  for (size_t i = 0; i < count; ++i) {
    gt_value* into = call.into == nullptr ? nullptr : call.into[i];
    const bool reaches = is_float(table_.type(made.results[i]).dtype);
    const Reach got = reaches ? reach : Reaches::kNone;
    if (into == nullptr) {
      results[i] = make_value(std::move(names[i]), made.results[i], got);
    } else {
      results[i] = into;
      if (into->leaf == kNoLeaf) into->reach = got;
    }
  }
  leaves_.tidy(values_);
  try {
    send(text_, lock);
  } catch (const Failure&) {
    for (size_t i = 0; i < count; ++i) {
      const bool is_new = call.into == nullptr || call.into[i] == nullptr;
      if (is_new) drop_locked(results[i]);
    }
    throw;
  }
}

void Session::rename(gt_value& value, std::string_view chosen, gt_place at) {
  Link::Lock lock(mutex_);
  check_open();
  if (value.name.text == chosen) return;
  auto name = names_.take(chosen, Where::of(at));
  if (!name.ok()) fail(GT_WRONG, name.error().message);
  begin_lines();
  text_ += name.value().text + " = copy " + value.name.text;
  append_end(at, text_);
  names_.give(value.name);
  value.name = std::move(name.value());
  send(text_, lock);
}

void Session::line(std::string_view text) {
  Link::Lock lock(mutex_);
  check_open();
  Line line;
  const Status parsed = parse_line(text, line);
  if (!parsed.ok() || text.find('\n') != std::string_view::npos) {
    fail(GT_WRONG,
         "no line of a program: " +
             (parsed.ok() ? "it has a line feed" : parsed.error().message));
  }
  const bool is_mark =
      text.starts_with("#sync") ||
      (text.starts_with('#') && Marks().take(text) != Marks::Mark::kNone);
  if (is_mark || is_output(statement_of(line.op))) {
    fail(GT_WRONG,
         "marks, and lines that ask for a result, are not for line()");
  }
  begin_lines();
  text_ += text;
  text_ += '\n';
  send(text_, lock);
}

}  // namespace gt::client
