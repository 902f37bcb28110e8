// What every program does around its one call into lib: messages, options'
// errors, a stdout that can fail.
#pragma once

#include <CLI/CLI.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit.h"
#include "base/result.h"
#include "base/text.h"
#include "base/writer.h"

namespace gt {

// An error, a warning or a note, to stderr, whole: lines as format_error()
// words them. What is not printable is made visible (base/printable.h), so that
// a text of anyone's does nothing to a terminal; on a terminal that takes
// colours the program's name, the severity and the caret have one.
//
// A text without a newline at its end is a line that the next one replaces on a
// terminal; elsewhere it gets its newline.
void say(std::string_view message);
// The same for what is no error: progress, figures. Never coloured.
void tell(std::string_view message);

// Whether colours may go there: a terminal that is not "dumb", and NO_COLOR is
// not set, or empty (https://no-color.org).
bool takes_color(int fd);

// First in main, and until it returns. Descriptors 0 to 2 are open afterwards,
// so that no file takes their place; a standard output that was closed stays
// one that cannot be written to. A file that must grow no more fails to be
// written; it ends no program. Where memory, threads or descriptors run short
// in any thread (see base/shortage.h) or in a library, the process says what to
// do and ends with status 2.
class ProcessGuard {
 public:
  ProcessGuard();
  ~ProcessGuard();
  ProcessGuard(const ProcessGuard&) = delete;
  ProcessGuard& operator=(const ProcessGuard&) = delete;
};

// Parses, answering --help and --version. Returns true to go on; else `status`
// is what to exit with. Bad usage is said with a hint.
bool parse_options(CLI::App& app, int argc, char** argv, int& status);

// Flushes and says what went wrong with stdout; the status to exit with.
int finish(std::string_view program, Writer& writer, Exit status);

// For programs that write a stream and give up before they read: opens and
// ends it, so that the reader learns the status. Not on a terminal.
void write_empty_stream(Exit status);

// Whether a file to write is one of those to read ("-" is standard input),
// which opening it would empty.
bool is_read(const std::string& path, const std::vector<std::string>& files);

// A file that is written beside the stream: not standard output, which is the
// stream's, and none of those to be read. What is wrong with it, or "".
std::string wrong_side_file(const std::string& path,
                            const std::vector<std::string>& inputs);
// Makes it anew, open for writing. Errors: that, and why it cannot be.
Result<int> create_side_file(const std::string& path,
                             const std::vector<std::string>& inputs);

// A number of decimal digits, within bounds that are part of the range; and no
// nan, inf, hexadecimal digits, or text behind it.
template <typename Number>
CLI::Option* add_number(CLI::App& app, const std::string& name, Number& to,
                        Number least, Number most, const std::string& help) {
  const auto read = [&to, least, most, name](const std::string& text) {
    Number value{};
    if (!read_number(text, value) || !(value >= least && value <= most)) {
      std::ostringstream wrong;
      wrong.precision(15);  // 1000000, not 1e+06
      wrong << "'" << text << "' is not a number from " << least << " to "
            << most;
      throw CLI::ValidationError(name, wrong.str());
    }
    to = value;
  };
  return app.add_option_function<std::string>(name, read, help)->type_name("N");
}

// "2G", "512M", "64k" or bytes; false if it is not a size.
bool parse_size(std::string_view text, size_t& bytes);

}  // namespace gt
