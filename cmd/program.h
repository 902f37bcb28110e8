// What every program does around its one call into lib: messages, errors in
// options, and a standard output that can fail.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit.h"
#include "base/result.h"
#include "base/text.h"
#include "base/writer.h"

namespace gt {

// Writes an error, a warning or a note to stderr as a whole; its lines are in
// the form of format_error(). Unprintable bytes are made visible
// (base/printable.h), so that no text affects the terminal. On a terminal that
// supports colours the program's name, the severity and the caret are coloured.
//
// A text without a newline at its end is a line that the next one replaces on a
// terminal; elsewhere a newline is added.
void say(std::string_view message);
// Does the same for messages that are no errors: progress, figures. Never
// coloured.
void tell(std::string_view message);

// True if colours may be written to the descriptor: it is a terminal that is
// not "dumb", and NO_COLOR is not set, or empty (https://no-color.org).
bool takes_color(int fd);

// Must be made first in main, and lives until main returns. Afterwards
// descriptors 0 to 2 are open, so that no other file gets their numbers; a
// standard output that was closed still cannot be written to. Writing a file
// beyond the limit on file sizes fails, and does not end the program. If
// memory, threads or descriptors run short in any thread (see base/shortage.h)
// or in a library, the process says what to do and ends with status 2.
class ProcessGuard {
 public:
  ProcessGuard();
  ~ProcessGuard();
  ProcessGuard(const ProcessGuard&) = delete;
  ProcessGuard& operator=(const ProcessGuard&) = delete;
};

// Parses the options, and answers --help and --version. Returns true if the
// program is to go on; else `status` is its exit status. Wrong usage is
// reported with a hint.
bool parse_options(CLI::App& app, int argc, char** argv, int& status);

// Reports what is wrong with the options, with a hint. Returns the exit status.
int usage_error(const std::string& program, const std::string& message);

// Flushes stdout, and reports errors. Returns the exit status.
int finish(std::string_view program, Writer& writer, Exit status);

// For programs that write a stream and give up before they read: opens and ends
// the stream, so that its reader learns the status. Writes nothing to a
// terminal.
void write_empty_stream(Exit status);

// True if a file that is to be written is one of those that are read ("-" is
// standard input): opening it for writing would empty it.
bool is_read(const std::string& path, const std::vector<std::string>& files);

// Checks a file that is written beside the stream: it must not be standard
// output, which is for the stream, nor one of the inputs. Returns what is
// wrong; "" if nothing is.
std::string wrong_side_file(const std::string& path,
                            const std::vector<std::string>& inputs);
// Creates the file, or empties it, and opens it for writing. Errors: those of
// wrong_side_file(), or why it cannot be created.
Result<int> create_side_file(const std::string& path,
                             const std::vector<std::string>& inputs);

// Reads the value of an option as a number in decimal digits from `least` to
// `most`, inclusive. Throws CLI::ValidationError for anything else, such as
// nan, inf, hexadecimal digits, or text after the number.
template <typename Number>
Number read_option(const std::string& name, const std::string& text,
                   Number least, Number most) {
  Number value{};
  if (!read_number(text, value) || !(value >= least && value <= most)) {
    std::ostringstream wrong;
    wrong.precision(15);  // so that it writes 1000000, not 1e+06
    wrong << "'" << text << "' is not a number from " << least << " to "
          << most;
    throw CLI::ValidationError(name, wrong.str());
  }
  return value;
}

// Adds an option for a number (see read_option()).
template <typename Number>
CLI::Option* add_number(CLI::App& app, const std::string& name, Number& to,
                        Number least, Number most, const std::string& help) {
  const auto read = [&to, least, most, name](const std::string& text) {
    to = read_option(name, text, least, most);
  };
  return app.add_option_function<std::string>(name, read, help)->type_name("N");
}

// Adds an option for a number above 0, of any size.
CLI::Option* add_positive(CLI::App& app, const std::string& name, double& to,
                          const std::string& help);

// Adds an option for seconds, which are kept in milliseconds.
CLI::Option* add_seconds(CLI::App& app, const std::string& name,
                         int64_t& milliseconds, double least, double most,
                         const std::string& help);

// Adds an option for a number of bytes, at least `least`: "2G", "512M", "64k",
// or digits alone.
CLI::Option* add_size(CLI::App& app, const std::string& name, size_t& bytes,
                      size_t least, const std::string& help);

// Adds an option that may be repeated, with one value each time.
CLI::Option* add_list(CLI::App& app, const std::string& name,
                      std::vector<std::string>& to, const std::string& type,
                      const std::string& help);

// Parses what add_size() takes, or the rounds of gt-emit --repeat. Returns
// false if it is neither.
bool parse_size(std::string_view text, size_t& bytes);

}  // namespace gt
