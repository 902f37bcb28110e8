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
  const Store::Place place =
      value_or_fail(store_.take(Store::Way::kOut), GT_FILE);
  gt_value* made = nullptr;
  try {
    lock.unlock();  // others go on while bytes are copied
    const Status written = write_tensor(place.path, type, bytes);
    lock.lock();
    check_open();
    value_or_fail(written, GT_FILE);
    const std::string words = to_string(type);
    const gt_word operands[] = {
        {GT_STRING, {.text = place.path.data()}, place.path.size()},
        text_word(words)};
    call.op = "load";
    call.operands = operands;
    call.operand_count = 2;
    write_call(call, &made, lock);
  } catch (const Failure&) {
    store_.give(place);
    throw;
  }
  if (is_told) {
    travelling_ += type.bytes();
    inbox_.expect_sync([this, place, size = type.bytes()] {
      store_.give(place);
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
  const Store::Place place =
      value_or_fail(store_.take(Store::Way::kBack), GT_FILE);
  begin_lines();
  text_ += "save " + value.name.text + " " + quote(place.path);
  append_end(at, text_);
  text_ += kSync;
  ask(lock);
  lock.unlock();  // others go on while bytes are copied
  const Status got = read_tensor(place.path, type, bytes);
  lock.lock();
  store_.give(place);
  if (got.ok()) return;
  // Of a value that failed no file is saved; its print says why.
  read_result(ask_for(value, at, lock), *value.shown, bytes);
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
