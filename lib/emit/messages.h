// The files that a program comes from, and messages for people about their
// lines.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/exit.h"
#include "base/message.h"
#include "base/origin.h"

namespace gt::emit {

class InputFiles {
 public:
  // `at`: lines from it are written with #at=. Returns the file's number, which
  // an Origin has.
  uint32_t add(std::string_view name, bool at);
  const std::string& name(uint32_t file) const { return files_[file].name; }
  bool has_at(uint32_t file) const { return files_[file].at; }
  Place place(Origin origin) const {
    return {files_[origin.file()].name, origin.line()};
  }
  // Appends " #at=model.gt:12".
  void append_at(std::string& out, Origin origin) const;

 private:
  struct File {
    std::string name;
    bool at;
    // What stands before the number of the line in a note, and behind it.
    std::string note_head, note_tail;
  };
  std::vector<File> files_;
};

// Tells people of errors and warnings. Keeps count, and the status that
// follows: kRejected after an error.
class Messages {
 public:
  // `say` gets whole messages; they end in LF.
  Messages(std::string program, const InputFiles& files,
           std::function<void(std::string_view)> say)
      : program_(std::move(program)), files_(files), say_(std::move(say)) {}

  // `text`: the line, or "" where there is none to show.
  void error(const Error& error, Origin origin, std::string_view text);
  void warn(const std::string& message, Origin origin, std::string_view text);
  std::string place_of(Origin origin) const {
    return to_string(files_.place(origin));
  }
  // The same of a line whose text is at hand: one that has a note #at= stands
  // at the place that it states, as in the messages of those who run it, since
  // there whoever wrote the program finds it.
  std::string place_of(Origin origin, std::string_view text) const;

  size_t count() const { return count_; }
  Exit status() const { return status_; }
  Exit take_status() { return std::exchange(status_, Exit::kDone); }

 private:
  std::string program_;
  const InputFiles& files_;
  std::function<void(std::string_view)> say_;
  Exit status_ = Exit::kDone;
  size_t count_ = 0;
};

}  // namespace gt::emit
