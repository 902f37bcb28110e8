// The name space of one client of gt-emit: what the client calls w is c7/w in
// the stream that all clients share. Everything that a line can name is put
// into it, so that no text which a client can write means anything of another
// client's: registers, meshes (space=), what a print is called (as=), the words
// of #sync, places (#at=) and files.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stream/line.h"
#include "stream/pattern.h"

namespace gt::serve {

class NameSpace {
 public:
  // `name`: "c7". `files`: the directory of the client's files, which stands
  // before each path of its loads and saves, with its '/'; "" if the client has
  // none, and then no line of it may load or save.
  NameSpace(std::string name, std::string files)
      : name_(std::move(name)), files_(std::move(files)) {}

  const std::string& name() const { return name_; }
  const std::string& files() const { return files_; }

  // Appends a line that a session wrote as it stands in the shared stream, LF
  // included. A note #client= is left out, since it could claim to be
  // another's. Of comments only a "#sync" is of the shared stream: for others
  // nothing is appended.
  void enter(std::string_view line, std::string& out);
  // A result or a message of the shared stream, as the client is to read it:
  // without the name space and the directory wherever they stand before a word.
  // A caret under a line that has become shorter moves with it.
  std::string leave(std::string_view text) const;

 private:
  void enter_comment(std::string_view comment, std::string& out) const;
  bool may_name_files(const Line& line) const;
  void enter_parsed(std::string_view text, std::string& out);
  // Appends a line; returns where in it something was left out, and how much.
  std::vector<std::pair<size_t, size_t>> leave_line(std::string_view line,
                                                    std::string& out) const;

  std::string name_, files_;
  Pattern pattern_;  // these two are kept for their room
  Line line_;
};

// The name space of a result line, or of a "#sync": "c7" of "c7/y = tensor ..."
// and of "#sync c7/3"; "" if it is in none.
std::string_view space_of_result(std::string_view line);

}  // namespace gt::serve
