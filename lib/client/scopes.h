// The notes that lines of a thread carry: scopes that the user has opened.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gt::client {

class Scopes {
 public:
  static Scopes& of_thread();

  // `value` may be "": the note has none. The scope's number, or -1 if the key
  // or the value cannot stand in a note; then none was opened.
  int begin(std::string_view key, std::string_view value);
  // Scopes may end in any order. Nothing happens if it is none of this thread.
  void end(int number);
  // " #signal=outer/inner #mb=3".
  const std::string& text() const { return text_; }

  // Whether what is made has no history.
  int no_grad = 0;

 private:
  void write();

  struct Scope {
    int number;
    std::string key, value;
  };
  std::vector<Scope> open_;  // the outermost first
  std::string text_;
};

}  // namespace gt::client
