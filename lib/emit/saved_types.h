// Types of stored tensors. gt-emit completes a load that states no type: if the
// program saved the path before, with the type that was saved; otherwise with
// the type that the file has.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "emit/line_state.h"
#include "file/safetensors_cache.h"
#include "file/stored.h"

namespace gt::emit {

class SavedTypes {
 public:
  // The arguments are as in EmitOptions.
  SavedTypes(bool is_client, std::string files, std::string no_files)
      : is_client_(is_client),
        files_(std::move(files)),
        no_files_(std::move(no_files)) {}

  // Error: the line is a load or save of a client, and its path is not below
  // the client's directory, or the client has no directory.
  Status check(const Line& line) const;
  // Adds the type to the operands of a load that leaves it out; does nothing to
  // other loads. Error: the file cannot be read, or gt does not read its
  // format.
  Status complete(LineState& state);
  // Notes what a save stores: one type, or one for each of the line's ranks,
  // each of which writes a file of its own.
  void note(const LineState& state, const std::vector<Type>& saved);
  // Appends all types as text, for Rewriter::state().
  void describe(std::string& text) const;

 private:
  Result<Type> type_of(const std::string& path);
  Result<StoredTensor> read_header(const StoredPath& path);

  bool is_client_;
  std::string files_;
  std::string no_files_;
  std::unordered_map<std::string, Type> types_;  // by path
  SafetensorsCache headers_;
};

}  // namespace gt::emit
