// Keeps results that depend only on the kind of GPU and the version of a
// library, such as compiled kernels, on disk: in $XDG_CACHE_HOME/gt, else in
// ~/.cache/gt. A variable that is not an absolute path counts as unset, and
// with neither set nothing is kept. A file that cannot be read or written is no
// error; the result is made again.
#pragma once

#include <string>
#include <string_view>

namespace gt::exec::cuda {

// Returns the payload kept under `kind` and `key`; "" if there is none or its
// file is incomplete. The kind is the ending of the file's name.
std::string read_cached(std::string_view kind, const std::string& key);
// Keeps `payload` under `kind` and `key`. Fails silently.
void write_cached(std::string_view kind, const std::string& key,
                  const std::string& payload);

}  // namespace gt::exec::cuda
