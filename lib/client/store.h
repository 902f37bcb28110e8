// Files in which large tensors travel beside the text, in a directory of the
// session's own, in memory (/dev/shm) where the system has that.
//
// The memory of a new file is found and cleared page by page, which takes
// longer than to write it. So where one worker of our own reads and writes the
// files, they are written over: those that go out are kept under their names,
// and what comes back is saved into files that are open here and have no name
// (memfd_create(2)), which a save writes where they lie. Both stay mapped here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/number_pool.h"
#include "base/result.h"
#include "client/view.h"
#include "file/files.h"
#include "stream/type.h"

namespace gt::client {

class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store() { remove(); }

  // Which way a file's bytes go.
  enum class Way { kOut, kBack };
  struct Place {
    Way way;
    size_t number;
    std::string path;            // absolute
    std::string name;            // which no other file of any session has
    std::shared_ptr<View> view;  // of a file that is kept; else null
  };
  // From here on files are kept once they are given back, at most kMostKept
  // bytes each way, and written over. Only where nobody reads a file later, or
  // keeps what was in it.
  void keep_files() { keeps_ = true; }
  // From here on files stay, also when the process has ended: nobody says when
  // they were read. To be called before the first is taken.
  void leave_files() { leaves_ = true; }
  // A path for a file. There is none under it, or one that was kept. Error:
  // there can be no directory.
  Result<Place> take(Way way);
  // The file is no longer needed.
  void give(const Place& place);
  // Removes all, but what stays.
  void remove();

 private:
  static constexpr uint64_t kMostKept = uint64_t{256} << 20;

  NumberPool& numbers(Way way) { return way == Way::kOut ? out_ : back_; }
  Status make_folder();
  std::string open_file(size_t number);
  uint64_t open_bytes() const;
  bool keep(const Place& place);

  struct Kept {
    uint64_t bytes = 0;
    std::shared_ptr<View> view = std::make_shared<View>();
  };
  struct Open {
    Fd file;
    std::shared_ptr<View> view = std::make_shared<View>();
  };
  std::string folder_;
  NumberPool out_, back_;
  bool keeps_ = false;
  bool leaves_ = false;
  // Files that are kept, by number: those that went out, and those without a
  // name that came back or are to.
  std::unordered_map<size_t, Kept> kept_;
  uint64_t bytes_kept_ = 0;
  std::unordered_map<size_t, Open> open_;
};

// Writes the place's file, a .npy, over one that may be there. Error: names the
// path.
Status write_tensor(const Store::Place& place, const Type& type,
                    const void* bytes);
// The type of the tensor at a path as load takes it, "FILE:TENSOR" of a
// safetensors file. Error: names the file, and what to do if there is none yet.
Result<Type> stored_type(std::string_view path);
// Reads the bytes of the place's file, which must have this type.
Status read_tensor(const Store::Place& place, const Type& type, void* bytes);

}  // namespace gt::client
