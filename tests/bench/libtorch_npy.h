// Arrays of .npy files for the programs of libtorch in this directory.
#pragma once

#include <torch/torch.h>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

// The array of a .npy file of version 1, which is known to have these sizes and
// this type.
inline torch::Tensor read_npy(const std::string& path, at::IntArrayRef sizes,
                              at::ScalarType kind) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() < 10) throw std::runtime_error("cannot read " + path);
  const size_t header = 10 + static_cast<unsigned char>(bytes[8]) +
                        256 * static_cast<unsigned char>(bytes[9]);
  return torch::from_blob(const_cast<char*>(bytes.data() + header), sizes, kind)
      .clone();
}
