// Session: bytes of values, to the program and from it.
#include <algorithm>

#include "client/call_text.h"
#include "client/session.h"
#include "stream/line.h"

namespace gt::client {
namespace {

// More values than these travel in a file.
constexpr int64_t kMostInText = 1000;
// Bytes of files that have not been loaded; with more, a writer waits.
constexpr size_t kMostTravelling = size_t{256} << 20;

Type type_from(const gt_type& type) {
  const bool is_right = type.rank >= 0 &&
                        static_cast<size_t>(type.rank) <= Shape::kMaxRank &&
                        std::all_of(type.sizes, type.sizes + type.rank,
                                    [](int64_t size) { return size >= 0; });
  if (!is_right) fail(GT_WRONG, "a shape has at most 8 sizes, of 0 or more");
  const Type out{static_cast<Dtype>(type.dtype),
                 Shape(std::span(type.sizes, static_cast<size_t>(type.rank)))};
  value_or_fail(check_size(out), GT_WRONG);
  return out;
}

}  // namespace

gt_value* Session::write(const gt_type& shown, const void* bytes,
                         const char* name, gt_place at) {
  const Type type = type_from(shown);
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
    std::vector<gt_word> operands = {
        {GT_TEXT, {.text = words.data()}, words.size()}};
    for (size_t at_blank = 0; at_blank < numbers.size();) {
      const size_t end =
          std::min(numbers.find(' ', at_blank + 1), numbers.size());
      operands.push_back({GT_TEXT,
                          {.text = numbers.data() + at_blank + 1},
                          end - at_blank - 1});
      at_blank = end;
    }
    call.op = "tensor";
    call.operands = operands.data();
    call.operand_count = operands.size();
    write_call(call, &made, lock);
    return made;
  }
  const Store::Place place = value_or_fail(store_.take(), GT_FILE);
  link_->wait([&] { return travelling_ <= kMostTravelling; }, lock);
  travelling_ += type.bytes();
  lock.unlock();  // others go on while bytes are copied
  const Status written = write_tensor(place.path, type, bytes);
  lock.lock();
  if (!written.ok()) {
    store_.give(place);
    fail(GT_FILE, written.error().message);
  }
  const gt_word operands[] = {
      {GT_STRING, {.text = place.path.data()}, place.path.size()},
      {GT_TEXT, {.text = words.data()}, words.size()}};
  call.op = "load";
  call.operands = operands;
  call.operand_count = 2;
  write_call(call, &made, lock);
  if (gives_results_ || link_->has_results()) {
    inbox_.expect_sync([this, place, size = type.bytes()] {
      store_.give(place);
      travelling_ -= size;
    });
    send(kSync, lock);
  }
  return made;
}

std::shared_ptr<Inbox::Answer> Session::ask(gt_value& value, gt_place at,
                                            Link::Lock& lock) {
  text_.clear();
  names_.append_free(text_);
  text_ += "print " + value.name.text;
  append_end(at, text_);
  auto answer = inbox_.expect();
  send(text_, lock);
  if (!link_->wait([&] { return answer->is_there; }, lock)) {
    fail_lost("the program ended before a result came");
  }
  return answer;
}

void Session::read(gt_value& value, void* bytes, gt_place at) {
  Link::Lock lock(mutex_);
  check_open();
  open_back();
  const gt_type& type = *value.shown;
  if (elements_of(type) > kMostInText) {
    return read_file(value, bytes, at, lock);
  }
  const auto answer = ask(value, at, lock);
  read_result(answer->line, type, bytes);
}

void Session::read_file(gt_value& value, void* bytes, gt_place at,
                        Link::Lock& lock) {
  const Type type = table_.type(value.type);
  const Store::Place place = value_or_fail(store_.take(), GT_FILE);
  text_.clear();
  names_.append_free(text_);
  text_ += "save " + value.name.text + " " + quote(place.path);
  append_end(at, text_);
  text_ += kSync;
  bool is_saved = false;
  inbox_.expect_sync([&is_saved] { is_saved = true; });
  send(text_, lock);
  const bool has_come = link_->wait([&] { return is_saved; }, lock);
  if (!has_come) fail_lost("the program ended before a result came");
  lock.unlock();  // others go on while bytes are copied
  const Status got = read_tensor(place.path, type, bytes);
  lock.lock();
  store_.give(place);
  if (got.ok()) return;
  // Of a value that failed no file is saved; its print says why.
  read_result(ask(value, at, lock)->line, *value.shown, bytes);
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
  text_.clear();
  names_.append_free(text_);
  text_ += "print " + value.name.text;
  if (is_renamed) text_ += std::string(" as=") + as;
  append_end(at, text_);
  send(text_, lock);
}

}  // namespace gt::client
