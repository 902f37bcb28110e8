// The functions of Session that copy values between memory and the program.
#include <algorithm>

#include "base/text.h"
#include "client/call_text.h"
#include "client/scopes.h"
#include "client/session.h"
#include "stream/line.h"

namespace gt::client {
namespace {

// While it lives, lines of this thread carry the note.
class OneNote {
 public:
  explicit OneNote(const char* key)
      : number_(Scopes::of_thread().begin(key, "")) {}
  OneNote(const OneNote&) = delete;
  OneNote& operator=(const OneNote&) = delete;
  ~OneNote() { Scopes::of_thread().end(number_); }

 private:
  int number_;
};

gt_word text_word(std::string_view text) {
  return {GT_TEXT, {.text = text.data()}, text.size()};
}

// Returns the type and each of the numbers as words.
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
  std::vector<uint8_t> truths;
  if (type.dtype == Dtype::kBool) {
    // As in C++, any byte but 0 is true; a bool of a tensor must be 0 or 1.
    const auto* from = static_cast<const uint8_t*>(bytes);
    const auto count = static_cast<size_t>(type.elements());
    if (std::any_of(from, from + count, [](uint8_t b) { return b > 1; })) {
      truths.resize(count);
      std::transform(from, from + count, truths.begin(),
                     [](uint8_t b) { return b != 0; });
      bytes = truths.data();
    }
  }
  const std::string words = to_string(type);
  gt_value* made = nullptr;
  const char* names[] = {name};
  gt_instruction call{};
  call.result_count = 1;
  call.names = names;
  call.at = at;
  Channel::Lock lock = channel_.enter();
  if (type.elements() <= ValueFiles::kMostInText) {
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
                              gt_instruction& call, Channel::Lock& lock) {
  const Store::Place place = files_.pack(type, bytes, lock);
  const std::string words = to_string(type);
  const std::string& path = files_.path_of(place);
  const gt_word operands[] = {{GT_STRING, {.text = path.data()}, path.size()},
                              text_word(words)};
  call.op = "load";
  call.operands = operands;
  call.operand_count = 2;
  gt_value* made = nullptr;
  try {
    const OneNote once("once");
    write_call(call, &made, lock);
  } catch (const Failure&) {
    files_.give(place);
    throw;
  }
  files_.was_sent(*made, place, type);
  return made;
}

std::string Session::ask_for(gt_value& value, gt_place at,
                             Channel::Lock& lock) {
  begin_lines();
  text_ += "print " + value.name.text;
  places_.append_end(at, text_);
  return channel_.ask(text_, lock);
}

void Session::read(gt_value& value, void* bytes, gt_place at) {
  try {
    read_value(value, bytes, at);
  } catch (const Failure& failure) {
    if (failure.fault == GT_FAILED) channel_.saw(failure.message);
    throw;
  }
}

void Session::read_value(gt_value& value, void* bytes, gt_place at) {
  Channel::Lock lock = channel_.enter();
  channel_.open_back();
  const gt_type& type = *value.shown;
  if (elements_of(type) > ValueFiles::kMostInText) {
    return read_file(value, bytes, at, lock);
  }
  read_result(ask_for(value, at, lock), type, bytes);
}

void Session::read_file(gt_value& value, void* bytes, gt_place at,
                        Channel::Lock& lock) {
  const Type type = table_.type(value.type);
  const Store::Place place = files_.reserve(type, lock);
  begin_lines();
  text_ += "save " + value.name.text + " " + quote(files_.path_of(place));
  places_.append_end(at, text_);
  text_ += kSync;
  channel_.ask(text_, lock);
  if (files_.unpack(place, type, bytes, lock)) return;
  // No file is saved for a value that failed; its print says why it failed.
  read_result(ask_for(value, at, lock), *value.shown, bytes);
}

Type Session::stored_type(const std::string& path) {
  const Channel::Lock lock = channel_.enter();
  return value_or_fail(paths_.type_of(paths_.written(path)), GT_FILE);
}

void Session::send_file(const std::string& path) {
  channel_.enter();
  files_.send_file(path);
  const Channel::Lock lock = channel_.enter();
  paths_.note_same(path);
}

void Session::fetch_file(const std::string& path) {
  sync();
  files_.fetch_file(path);
  const Channel::Lock lock = channel_.enter();
  paths_.note_same(path);
}

void Session::print(gt_value& value, const char* as, gt_place at) {
  Channel::Lock lock = channel_.enter();
  const bool is_renamed = as != nullptr && *as != '\0';
  if (is_renamed && !is_name(as)) {
    fail(GT_WRONG, "print: '" + std::string(as) + "' is no name");
  }
  const bool is_shown = channel_.has_way_back();
  if (is_shown) channel_.open_back();
  begin_lines();
  if (is_shown) channel_.show_next();
  text_ += "print " + value.name.text;
  if (is_renamed) text_ += std::string(" as=") + as;
  places_.append_end(at, text_);
  channel_.send(text_, lock);
}

}  // namespace gt::client
