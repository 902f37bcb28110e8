// What every program does around its one call into lib: messages, options'
// errors, a stdout that can fail.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit.h"
#include "base/writer.h"

namespace gt {

// To stderr, whole.
void say(std::string_view message);

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

// "2G", "512M", "64k" or bytes; false if it is not a size.
bool parse_size(std::string_view text, size_t& bytes);

}  // namespace gt
