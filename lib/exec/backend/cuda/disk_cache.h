// What was made once for a kind of GPU and a version of a library, kept on the
// disk: in $XDG_CACHE_HOME/gt, else ~/.cache/gt, and nowhere if neither
// variable is set. Nothing tells of a file that cannot be read or written: then
// it is made again.
#pragma once

#include <string>
#include <string_view>

namespace gt::exec::cuda {

// What was kept of that kind for the key; "" if nothing was, or if its file is
// not whole. A kind is the ending of the files' names.
std::string read_cached(std::string_view kind, const std::string& key);
void write_cached(std::string_view kind, const std::string& key,
                  const std::string& payload);

}  // namespace gt::exec::cuda
