// Types of stored tensors. gt-emit completes a load that states no type: if the
// program saved the path before, with the type that was saved; otherwise with
// the type that the file has.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "emit/line_state.h"
#include "file/safetensors_cache.h"
#include "file/stored.h"

namespace gt::emit {

// What is seen of a file of a client when it is looked for.
struct FileLook {
  bool has_directory = true;  // the client has a directory for its files
  Result<StoredTensor> header = Error{};
};
// Looks for a path of a client below `files`, which ends with '/'. The file
// itself is looked at only if there is a cache for its header.
FileLook look_at_file(const std::string& files, const std::string& path,
                      SafetensorsCache* headers);
// Tells what was seen of a path.
using Look = std::function<FileLook(const std::string& path)>;

class SavedTypes {
 public:
  // The arguments are as in EmitOptions.
  SavedTypes(bool is_client, std::string files, std::string no_files, Look look)
      : is_client_(is_client),
        files_(std::move(files)),
        no_files_(std::move(no_files)),
        look_(std::move(look)) {}

  // Error: the line is a load or save of a client, and its path is not below
  // the client's directory, or the client has no directory.
  Status check(const Line& line);
  // Adds the type to the operands of a load that leaves it out, and that has
  // just been checked; does nothing to other loads. Error: the file cannot be
  // read, or gt does not read its format.
  Status complete(LineState& state);
  // Notes what a save stores: one type, or one for each of the line's ranks,
  // each of which writes a file of its own.
  void note(const LineState& state, const std::vector<Type>& saved);
  // Appends all types as text, for Rewriter::state().
  void describe(std::string& text) const;

 private:
  Result<Type> type_of(const std::string& path);
  Result<StoredTensor> read_header(const std::string& path);

  bool is_client_;
  std::string files_;
  std::string no_files_;
  Look look_;
  // What check() last saw; a client's path is opened below its directory only.
  FileLook seen_;
  std::unordered_map<std::string, Type> types_;  // by path
  SafetensorsCache headers_;
};

}  // namespace gt::emit
