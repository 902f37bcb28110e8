// The header of a safetensors file: JSON that says where each tensor lies. It
// is read strictly, since files come from anyone: no duplicate names, no bytes
// that belong to two tensors or to none, no size that does not fit its shape.
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

// A longer header is refused; that of a model of 100,000 tensors is shorter.
inline constexpr size_t kMaxSafetensorsHeader = size_t{32} << 20;

struct SafetensorsEntry {
  std::string name;
  std::string dtype;  // as the format names it; gt may not have it
  std::vector<uint64_t> sizes;
  size_t begin = 0;  // of its bytes, from the end of the header
  size_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> tensors;  // in the order of their bytes
  std::string metadata;    // the JSON object of "__metadata__", or ""
  size_t data_offset = 0;  // bytes from the start of the file

  const SafetensorsEntry* find(std::string_view name) const;
  // Where a tensor lies. Errors: a name that the file lacks, a dtype or a rank
  // that gt does not have.
  Result<StoredTensor> stored(std::string_view name) const;
};

// From the JSON text; `bytes` follow it in the file.
Result<SafetensorsHeader> parse_safetensors(std::string_view json,
                                            size_t bytes);
// From an open regular file. Leaves the file's position alone.
Result<SafetensorsHeader> read_safetensors(int fd);

// The bytes in front of the tensors' own, their count included; a multiple of
// 8. The entries are in the order of their bytes.
std::string safetensors_header(const SafetensorsHeader& header);

// An entry without a place. The bytes of what is aligned to more come first in
// a file, and then by name, so that a file does not depend on who saved when.
SafetensorsEntry safetensors_entry(std::string_view name, const Type& type);
bool comes_before(const SafetensorsEntry& a, const SafetensorsEntry& b);

// Errors: a name that no safetensors file can hold.
Status check_tensor_name(std::string_view name);

}  // namespace gt
