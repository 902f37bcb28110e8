// The arguments of a program: the options and files that it takes, what its
// --help says of them, and what a user has given. The library that parses them
// is known to arguments.cc alone, since its headers take long to compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace gt {

// An option that was added to Arguments, for what only some of them have.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  // What --help calls the value, such as "FILE".
  Option& type(const std::string& name);
  // If the option is not given, the environment's variable gives its value.
  Option& env(const std::string& variable);
  // It is wrong to give it without the other, or beside it.
  Option& needs(const Option& other);
  Option& excludes(const Option& other);
  Option& required();
  // The value may be left out; then it is `value`.
  Option& defaults_to(const std::string& value);
  Option& one_of(const std::vector<std::string>& values);

 private:
  CLI::Option* option_;
};

class Arguments {
 public:
  // `what` is one sentence, and `footer` what --help ends with.
  Arguments(const std::string& program, const std::string& what,
            const std::string& footer);
  ~Arguments();
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  // Each function adds an option, or by a name without "-" what stands without
  // one. What is given is stored in `to`, which must outlive parse().
  Option flag(const std::string& name, bool& to, const std::string& help);
  // Counts how often the flag is given.
  Option flag(const std::string& name, int& to, const std::string& help);
  Option text(const std::string& name, std::string& to,
              const std::string& help);
  // A number in decimal digits from `least` to `most`, inclusive.
  template <typename Number>
  Option number(const std::string& name, Number& to, Number least, Number most,
                const std::string& help);
  // A number above 0, of any size.
  Option positive(const std::string& name, double& to, const std::string& help);
  // Seconds, which are kept in milliseconds.
  Option seconds(const std::string& name, int64_t& milliseconds, double least,
                 double most, const std::string& help);
  // Bytes, at least `least`: "2G", "512M", "64k", or digits alone.
  Option size(const std::string& name, size_t& bytes, size_t least,
              const std::string& help);
  // All that stands without an option.
  Option files(const std::string& name, std::vector<std::string>& to,
               const std::string& help);
  // An option that may be repeated, with one value each time, or with several
  // between which `separator` stands.
  Option list(const std::string& name, std::vector<std::string>& to,
              const std::string& type, const std::string& help,
              char separator = '\0');
  // An option that may be repeated, with two values each time.
  Option pairs(const std::string& name, std::vector<std::string>& to,
               const std::string& type, const std::string& help);
  // A value that `read` reads; it returns what is wrong, and "" if nothing is.
  using Reader = std::function<std::string(const std::string& text)>;
  Option read(const std::string& name, Reader read, const std::string& help);

  // Parses what the user gave, and answers --help and --version. Returns true
  // if the program is to go on; else `status` is its exit status. Wrong usage
  // is reported with a hint.
  bool parse(int argc, char** argv, int& status);

  // True if the option was given, by the user or by the environment.
  bool has(const std::string& name) const;
  // Returns the first of the options that is given; "" if none is.
  std::string first_of(const std::vector<std::string>& names) const;
  // Returns the names of what was given in the order of the command line, each
  // once for each of its values.
  std::vector<std::string> order() const;

 private:
  std::unique_ptr<CLI::App> app_;
};

// Parses what Arguments::size() takes, or the rounds of gt-emit --repeat.
// Returns false if it is neither.
bool parse_size(std::string_view text, size_t& bytes);

}  // namespace gt
