// Files in which large tensors travel beside the text: a directory of the
// session's own, in memory (/dev/shm) where the system has that.
#pragma once

#include <string>
#include <string_view>

#include "base/number_pool.h"
#include "base/result.h"
#include "stream/type.h"

namespace gt::client {

class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store() { remove(); }

  struct Place {
    size_t number;
    std::string path;  // absolute
    std::string name;  // which no other file of any session has
  };
  // A path under which there is no file. Error: there can be no directory.
  Result<Place> take();
  // The file is no longer needed.
  void give(const Place& place);
  // Removes all.
  void remove();

 private:
  std::string folder_;
  NumberPool numbers_;
};

// Writes a .npy file. Error: names the path.
Status write_tensor(const std::string& path, const Type& type,
                    const void* bytes);
// The type of the tensor at a path as load takes it, "FILE:TENSOR" of a
// safetensors file. Error: names the file, and what to do if there is none yet.
Result<Type> stored_type(std::string_view path);
// Reads the bytes of one, which must have this type.
Status read_tensor(const std::string& path, const Type& type, void* bytes);

}  // namespace gt::client
