// NameSpace: puts the names of one client of gt-emit into the client's name
// space: what the client calls w is c7/w in the stream that all clients share.
// It does so for everything that a line can name, so that no text of a client
// can refer to something of another client: registers, meshes (space=), the
// name of a print (as=), the words of #sync, places (#at=) and files.
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
  // `name` is the name space, "c7". `files` is the directory of the client's
  // files with its '/', which is put before each path of its loads and saves;
  // if it is "", the client has none, and no line of it may load or save.
  NameSpace(std::string name, std::string files)
      : name_(std::move(name)), files_(std::move(files)) {}

  const std::string& name() const { return name_; }
  const std::string& files() const { return files_; }

  // Appends a line that a session wrote in the form that it has in the shared
  // stream, LF included. A note #client= is left out, since it could claim to
  // be another's. Of the comments, only "#sync" goes into the shared stream;
  // for others nothing is appended.
  void enter(std::string_view line, std::string& out);
  // Returns a result or a message of the shared stream as the client is to read
  // it: without the name space and the directory wherever they stand before a
  // word. A caret under a line that has become shorter moves with it.
  std::string leave(std::string_view text) const;

 private:
  void enter_comment(std::string_view comment, std::string& out) const;
  bool may_name_files(const Line& line) const;
  void enter_parsed(std::string_view text, std::string& out);
  // Appends a line. Returns the positions in it at which something was left
  // out, and how much.
  std::vector<std::pair<size_t, size_t>> leave_line(std::string_view line,
                                                    std::string& out) const;

  std::string name_, files_;
  // Scratch, as line_ is; members so that their memory is used again.
  Pattern pattern_;
  Line line_;
};

// Returns the name space of a result line, or of a "#sync": "c7" for "c7/y =
// tensor ..." and for "#sync c7/3"; "" if there is none.
std::string_view space_of_result(std::string_view line);

}  // namespace gt::serve
