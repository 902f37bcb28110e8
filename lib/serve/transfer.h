// gt-emit --send, --fetch and --carry: copy files between a client and the
// directory of its user at a gt-emit -l (net/file_caller.h).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit.h"
#include "net/file_caller.h"

namespace gt::serve {

struct Transfer {
  std::string file;  // the local path
  std::string name;  // the path below the user's directory at the other side
};

// Reads FILE[=NAME]. Without NAME it is the file's own path, or the last part
// of that if it is not below the working directory. Error: one of them is
// empty, the file is "-", or the name leads outside.
Result<Transfer> read_sending(const std::string& text);
// Reads NAME[=FILE]. Without FILE the file has the same path here.
Result<Transfer> read_fetching(const std::string& text);

// Each function stores, or fetches, one file after the other, until one fails,
// which is reported to `say`. Returns kUsage if a local file is at fault, and
// kLost if the other side is. If a process was ended in the middle of a file,
// the next one that sends or fetches the same file continues there.
Exit send_files(const std::vector<Transfer>& files,
                const net::FileCallerOptions& options,
                const std::function<void(std::string_view)>& say);
Exit fetch_files(const std::vector<Transfer>& files,
                 const net::FileCallerOptions& options,
                 const std::function<void(std::string_view)>& say);

// Executes the lines read from `in`, one after the other, until their end, and
// writes a line to `out` for each: "done", or "failed" and why. Such a line
// also comes first, and says whether the other side keeps files.
//     claim "NAME"          at the end, what is stored there is removed
//     remove "NAME"         it is removed now
//     send "FILE" "NAME"    stores a file
//     fetch "NAME" "FILE"   gets one
// Returns kUsage if reading or writing failed, which is reported to `say`.
Exit carry_files(int in, int out, const net::FileCallerOptions& options,
                 const std::function<void(std::string_view)>& say);

}  // namespace gt::serve
