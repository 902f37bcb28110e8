#include "emit/messages.h"

#include "stream/line.h"
#include "stream/notes.h"

namespace gt::emit {

uint32_t InputFiles::add(std::string_view name, bool at) {
  File file{std::string(name), at, {}, {}};
  // The note is quoted if a blank or the like would end it.
  if (!needs_quotes(name)) {
    file.note_head = " #at=" + file.name + ":";
  } else {
    file.note_head = " #at=" + quote(file.name + ":");
    file.note_head.pop_back();
    file.note_tail = "\"";
  }
  files_.push_back(std::move(file));
  return static_cast<uint32_t>(files_.size() - 1);
}

void InputFiles::append_at(std::string& out, Origin origin) const {
  const File& file = files_[origin.file()];
  out += file.note_head;
  out += std::to_string(origin.line());
  out += file.note_tail;
}

NotedPlace Messages::noted_place(Origin origin, std::string_view text) const {
  const Place read = files_.place(origin);
  return gt::place_of(text, read.file, read.line);
}

std::string Messages::place_of(Origin origin, std::string_view text) const {
  const NotedPlace place = noted_place(origin, text);
  return to_string(Place{place.file, static_cast<size_t>(place.line)});
}

void Messages::error(const Error& error, Origin origin, std::string_view text) {
  ++count_;
  status_ = worst(status_, Exit::kRejected);
  const NotedPlace noted = noted_place(origin, text);
  const Place place{noted.file, static_cast<size_t>(noted.line)};
  if (!reported_.is_first(place, error.message, text)) return;
  say_(format_error(program_, {to_string(place)}, error, text));
}

void Messages::warn(const std::string& message, Origin origin,
                    std::string_view text) {
  ++count_;
  say_(format_error(program_, {place_of(origin, text)}, {"warning: " + message},
                    text));
}

}  // namespace gt::emit
