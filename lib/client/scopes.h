// Scopes: the notes that the lines of a thread carry, from the scopes that the
// user has opened in it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gt::client {

class Scopes {
 public:
  static Scopes& of_thread();

  // Opens a scope with this note and returns its number. A `value` of "" is a
  // note without one. Returns -1 and opens none if the key or the value cannot
  // stand in a note.
  int begin(std::string_view key, std::string_view value);
  // Ends a scope. Scopes may end in any order; a number that is not open in
  // this thread is ignored.
  void end(int number);
  // Returns the notes as they stand in a line: " #signal=outer/inner #mb=3".
  const std::string& text() const { return text_; }

  // The number of no-grad scopes; above 0, new values have no history.
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
