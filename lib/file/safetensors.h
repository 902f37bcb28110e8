// Reads and writes the header of a safetensors file: JSON that says where the
// bytes of each tensor are. Anyone may have made the file, so it is read
// strictly: no name twice, no bytes that belong to two tensors or to none, no
// number of bytes that does not fit the shape.
// https://huggingface.co/docs/safetensors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "file/stored.h"
#include "stream/type.h"

namespace gt {

// The longest header, in bytes. A longer one is refused; the header of a model
// of 100,000 tensors is shorter.
inline constexpr size_t kMaxSafetensorsHeader = size_t{32} << 20;

struct SafetensorsEntry {
  std::string name;
  std::string dtype;  // the format's name for it; gt may not have it
  std::vector<uint64_t> sizes;
  size_t begin = 0;  // start of its bytes, from the end of the header
  size_t end = 0;    // behind its last byte
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> tensors;  // in the order of their bytes
  std::string metadata;    // the JSON object of "__metadata__", or ""
  size_t data_offset = 0;  // bytes from the start of the file

  // Returns null if there is no such tensor.
  const SafetensorsEntry* find(std::string_view name) const;
  // Returns the type and place of a tensor. Errors: there is no such tensor, or
  // gt does not have its dtype or so many dimensions.
  Result<StoredTensor> stored(std::string_view name) const;
};

// Reads the JSON text of a header, which `bytes` bytes of tensors follow in the
// file. Errors: anything that is not as the format says.
Result<SafetensorsHeader> parse_safetensors(std::string_view json,
                                            size_t bytes);
// Reads the header of an open regular file, without moving its position.
Result<SafetensorsHeader> read_safetensors(int fd);

// Returns all bytes before those of the tensors: the length of the JSON text,
// the text, and blanks up to a multiple of 8. The entries must be in the order
// of their bytes.
std::string safetensors_header(const SafetensorsHeader& header);

// Returns an entry for a tensor, with the place (begin, end) not set.
SafetensorsEntry safetensors_entry(std::string_view name, const Type& type);
// The order of tensors in a file that gt writes: larger elements first, so that
// all are aligned, then by name, so that the file does not depend on the order
// in which tensors were saved. True if `a` comes before `b`.
bool comes_before(const SafetensorsEntry& a, const SafetensorsEntry& b);

// Returns an error if no safetensors file can hold a tensor of that name.
Status check_tensor_name(std::string_view name);

}  // namespace gt
