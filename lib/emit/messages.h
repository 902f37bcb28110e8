// The files that a program comes from, and the messages to people about their
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
#include "base/reported.h"
#include "stream/notes.h"

namespace gt::emit {

class InputFiles {
 public:
  // Adds a file and returns its number, which an Origin has. `at`: lines from
  // it are written with #at=.
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
    // The text of a note #at= before the line number, and after it.
    std::string note_head, note_tail;
  };
  std::vector<File> files_;
};

// Prints errors and warnings for people. Counts them, and keeps the status that
// results: kRejected after an error.
class Messages {
 public:
  // `say` gets whole messages; they end in LF.
  Messages(std::string program, const InputFiles& files,
           std::function<void(std::string_view)> say)
      : program_(std::move(program)), files_(files), say_(std::move(say)) {}

  // `text` is the line, or "" if there is none to show. An error that comes
  // back in each round of a loop is printed once and then only counted.
  void error(const Error& error, Origin origin, std::string_view text);
  void warn(const std::string& message, Origin origin, std::string_view text);
  std::string place_of(Origin origin) const {
    return to_string(files_.place(origin));
  }
  // Does the same for a line whose text is at hand. If it has a note #at=,
  // returns the place that the note states, as the messages of the programs
  // that run the line do, since whoever wrote the program finds the line there.
  std::string place_of(Origin origin, std::string_view text) const;

  // Prints how often errors came back since the last call (Reported).
  void tell_counts() {
    const std::string text = reported_.take_counts(program_, false);
    if (!text.empty()) say_(text);
  }

  size_t count() const { return count_; }
  Exit status() const { return status_; }
  Exit take_status() { return std::exchange(status_, Exit::kDone); }

 private:
  NotedPlace noted_place(Origin origin, std::string_view text) const;

  std::string program_;
  const InputFiles& files_;
  Reported reported_;
  std::function<void(std::string_view)> say_;
  Exit status_ = Exit::kDone;
  size_t count_ = 0;
};

}  // namespace gt::emit
