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

  // `value` may be "": the note has none. False if the key or the value cannot
  // stand in a note; then no scope was opened.
  bool begin(std::string_view key, std::string_view value);
  void end();
  // " #signal=outer/inner #mb=3".
  const std::string& text() const { return text_; }

  // Whether what is made has no history.
  int no_grad = 0;

 private:
  void write();

  std::vector<std::pair<std::string, std::string>> open_;
  std::string text_;
};

}  // namespace gt::client
