// What every program does around its one call into lib: messages, and a
// standard output that can fail.
#pragma once

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

// From now on a thread writes what say() and tell() are given, for a program
// that others wait for: it goes on where standard error takes nothing, as on a
// disk that stalls, a terminal that is stopped, or a pipe that nobody reads.
// Then it keeps 1 MiB of messages, and says how many it did not keep. The
// process ends once all are written.
void talk_aside();

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
// Creates the file, or empties it, and opens it to append. Errors: those of
// wrong_side_file(), or why it cannot be created.
Result<int> create_side_file(const std::string& path,
                             const std::vector<std::string>& inputs);

}  // namespace gt
