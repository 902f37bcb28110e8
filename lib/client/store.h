// Store: the files in which large tensors travel beside the text. They are in a
// directory of the session's own, in memory (/dev/shm) where the system has
// that.
//
// The system finds and clears the memory of a new file page by page, which
// takes longer than writing it. So where one worker of our own reads and writes
// the files, they are used again and overwritten. Files for outgoing values are
// kept under their names. Incoming values are saved into files that this
// process has open and that have no name (memfd_create(2)); a save overwrites
// them in place. Both kinds stay mapped in this process.
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

  // The direction in which a file's bytes travel: to the workers or from them.
  enum class Way { kOut, kBack };
  struct Place {
    Way way;
    size_t number;
    std::string path;            // absolute
    std::string name;            // no other file of any session has it
    std::shared_ptr<View> view;  // set if the file is kept; else null
  };
  // From now on a file that is given back is kept for the next take(), up to
  // kMostKept bytes in each direction. Only allowed if nobody reads a file
  // after it was given back, or still uses its content.
  void keep_files() { keeps_ = true; }
  // From now on files are never removed, not even at the end of the process:
  // nothing tells when they were read. To be called before the first take().
  void leave_files() { leaves_ = true; }
  // Returns a path for a file. At the path there is no file, or one that was
  // kept. Error: the directory cannot be made.
  Result<Place> take(Way way);
  // Gives back a file that is no longer needed.
  void give(const Place& place);
  // Removes all files, unless leave_files() was called.
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
  // The kept files by number. kept_ has outgoing ones; open_ has incoming ones,
  // which have no name and may be in use.
  std::unordered_map<size_t, Kept> kept_;
  uint64_t bytes_kept_ = 0;
  std::unordered_map<size_t, Open> open_;
};

// Writes a tensor as a .npy file at the place, over a file that may be there.
// Error: the message names the path.
Status write_tensor(const Store::Place& place, const Type& type,
                    const void* bytes);
// Returns the type of the tensor at a path as load takes it: "FILE", or
// "FILE:TENSOR" in a safetensors file. Error: the message names the file, and
// says what to do if it does not exist yet.
Result<Type> stored_type(std::string_view path);
// Reads the tensor in the place's file, which must have this type, to `bytes`.
Status read_tensor(const Store::Place& place, const Type& type, void* bytes);

}  // namespace gt::client
