// Session: bytes of values, to the program and from it.
#include <algorithm>

#include "base/text.h"
#include "client/call_text.h"
#include "client/session.h"
#include "stream/line.h"

namespace gt::client {
namespace {

// More values than these travel in a file.
constexpr int64_t kMostInText = 1000;
// Bytes of files that have not been loaded; with more, a writer waits.
constexpr size_t kMostTravelling = size_t{256} << 20;

gt_word text_word(std::string_view text) {
  return {GT_TEXT, {.text = text.data()}, text.size()};
}

// The type, and each of the numbers.
std::vector<gt_word> words_in(std::string_view type, std::string_view numbers) {
  std::vector<gt_word> out = {text_word(type)};
  for (const std::string_view number : words_of(numbers)) {
    out.push_back(text_word(number));
  }
  return out;
}

}  // namespace

gt_value* Session::write(const gt_type& shown, const void* bytes,
                         const char* name, gt_place at) {
  const Type type = checked_type(shown);
  if (bytes == nullptr && type.elements() > 0) {
    fail(GT_WRONG,
         "the bytes of " + to_string(type) + " are at a null pointer");
  }
  const std::string words = to_string(type);
  gt_value* made = nullptr;
  const char* names[] = {name};
  gt_instruction call{};
  call.result_count = 1;
  call.names = names;
  call.at = at;
  Link::Lock lock(mutex_);
  check_open();
  if (type.elements() <= kMostInText) {
    std::string numbers;
    append_values(shown, bytes, numbers);
    const std::vector<gt_word> operands = words_in(words, numbers);
    call.op = "tensor";
    call.operands = operands.data();
    call.operand_count = operands.size();
    write_call(call, &made, lock);
    return made;
  }
  return write_file(type, bytes, call, lock);
}

gt_value* Session::write_file(const Type& type, const void* bytes,
                              gt_instruction& call, Link::Lock& lock) {
  // Without a way back nobody says when a file was loaded; then all stay until
  // the session ends.
  const bool is_told = has_way_back();
  if (is_told) {
    open_back();
    link_->wait([&] { return travelling_ <= kMostTravelling; }, lock);
  }
  const Store::Place place = value_or_fail(store_.take(), GT_FILE);
  gt_value* made = nullptr;
  try {
    lock.unlock();  // others go on while bytes are copied
    Status written = write_tensor(place.path, type, bytes);
    if (written.ok() && courier_.is_needed()) {
      written = courier_.claim(place.name);
      if (written.ok()) written = courier_.send(place.path, place.name);
    }
    lock.lock();
    check_open();
    check_carried(written, type);
    const std::string words = to_string(type);
    const std::string& path = courier_.is_needed() ? place.name : place.path;
    const gt_word operands[] = {{GT_STRING, {.text = path.data()}, path.size()},
                                text_word(words)};
    call.op = "load";
    call.operands = operands;
    call.operand_count = 2;
    write_call(call, &made, lock);
  } catch (const Failure&) {
    give(place);
    throw;
  }
  if (is_told) {
    travelling_ += type.bytes();
    inbox_.expect_sync([this, place, size = type.bytes()] {
      give(place);
      travelling_ -= size;
    });
    send(kSync, lock);
  }
  return made;
}

std::string Session::ask_for(gt_value& value, gt_place at, Link::Lock& lock) {
  begin_lines();
  text_ += "print " + value.name.text;
  append_end(at, text_);
  return ask(lock);
}

void Session::read(gt_value& value, void* bytes, gt_place at) {
  Link::Lock lock(mutex_);
  check_open();
  open_back();
  const gt_type& type = *value.shown;
  if (elements_of(type) > kMostInText) {
    return read_file(value, bytes, at, lock);
  }
  read_result(ask_for(value, at, lock), type, bytes);
}

void Session::read_file(gt_value& value, void* bytes, gt_place at,
                        Link::Lock& lock) {
  const Type type = table_.type(value.type);
  const Store::Place place = value_or_fail(store_.take(), GT_FILE);
  if (courier_.is_needed()) {
    lock.unlock();
    const Status kept = courier_.claim(place.name);
    lock.lock();
    if (!kept.ok()) give(place);
    check_carried(kept, type);
  }
  begin_lines();
  text_ += "save " + value.name.text + " " +
           quote(courier_.is_needed() ? place.name : place.path);
  append_end(at, text_);
  text_ += kSync;
  ask(lock);
  lock.unlock();  // others go on while bytes are copied
  Status got = ok_status();
  if (courier_.is_needed()) got = courier_.fetch(place.name, place.path);
  if (got.ok()) got = read_tensor(place.path, type, bytes);
  lock.lock();
  give(place);
  if (got.ok()) return;
  // Of a value that failed no file is saved; its print says why.
  read_result(ask_for(value, at, lock), *value.shown, bytes);
}

// The file of a tensor is no longer needed.
void Session::give(const Store::Place& place) {
  if (courier_.is_needed()) courier_.forget(place.name);
  store_.give(place);
}

// Fails if a tensor could not travel as a file.
void Session::check_carried(const Status& status, const Type& type) {
  if (status.ok()) return;
  if (!pipeline_.ended().empty()) {
    fail_lost("the program that runs the lines is gone");
  }
  fail(GT_FILE, courier_.is_needed()
                    ? to_string(type) + " has more than " +
                          std::to_string(kMostInText) +
                          " values, which travel to a cluster as a file: " +
                          status.error().message + " (gt-clients(7), \"Files\")"
                    : status.error().message);
}

void Session::send_file(const std::string& path) {
  {
    const Link::Lock lock(mutex_);
    check_open();
  }
  if (!courier_.is_needed()) return;
  const Status sent = courier_.send(path, path);
  if (!sent.ok()) fail(GT_FILE, sent.error().message);
}

void Session::fetch_file(const std::string& path) {
  sync();
  if (!courier_.is_needed()) return;
  const Status fetched = courier_.fetch(path, path);
  if (!fetched.ok()) fail(GT_FILE, fetched.error().message);
}

void Session::print(gt_value& value, const char* as, gt_place at) {
  Link::Lock lock(mutex_);
  check_open();
  const bool is_renamed = as != nullptr && *as != '\0';
  if (is_renamed && !is_name(as)) {
    fail(GT_WRONG, "print: '" + std::string(as) + "' is no name");
  }
  if (has_way_back()) {
    open_back();
    inbox_.expect_shown();
    link_->watch_results(true);
  }
  begin_lines();
  text_ += "print " + value.name.text;
  if (is_renamed) text_ += std::string(" as=") + as;
  append_end(at, text_);
  send(text_, lock);
}

}  // namespace gt::client
