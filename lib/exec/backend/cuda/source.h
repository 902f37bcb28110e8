// Makes the texts of kernels, and the numbers that their launches carry.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/backend/cuda/plan.h"
#include "exec/backend/cuda/text/entries.cuh"
#include "exec/backend/view.h"

namespace gt::exec::cuda {

// Makes a kernel whose body is one statement over its Args `a`, in the words of
// the file text/HEADER. `declarations` come before the kernel.
Source make_source(std::string_view header, std::string_view body,
                   std::string_view declarations = "");
// Does the same for a kernel that also has Items, called `items`.
Source make_items_source(std::string_view header, std::string_view body,
                         std::string_view declarations = "");

// Returns the files of text/, by name, and the other files that kernel texts
// include, apart from target.cuh, which the compiler supplies.
struct TextFile {
  const char* name;
  const char* text;
};
std::span<const TextFile> text_files();

// Returns the name of a dtype in kernel texts.
std::string_view word_of(Dtype dtype);
// Returns an unsigned integer type of the dtype's size, for ops that only move
// elements: four dtypes can then share one kernel.
std::string_view bits_of(Dtype dtype);
// Returns a template instance, such as "move<f32,f16>".
std::string instance(std::string_view name,
                     const std::vector<std::string_view>& arguments);

// Returns the type by which kernel texts read argument i: "In<f32>", or for a
// number "Literal<f64>". An absent argument is the number that scalar_slot()
// gives for it.
std::string source_of(const Call& call, size_t i);
// Returns the slot of argument i, or of the number `fallback` if it is absent.
Slot scalar_slot(const Call& call, size_t i, int64_t fallback);

// Returns the number of parts of `size` that make up n; the last part may be
// smaller.
inline int64_t parts_of(int64_t n, int64_t size) {
  return (n + size - 1) / size;
}

// each_launch() returns a launch with a thread for each of n elements,
// block_launch() one with a block for each; beyond a maximum of blocks, each
// does several.
Launch each_launch(Source source, int64_t n);
Launch block_launch(Source source, int64_t n);

// Writes the lines to the launch's numbers, where kernel texts read them
// (text/entries.cuh).
void write_lines(Launch& launch, const Lines& lines);
// Writes a shape and its strides from `n` on, as place() of text/common.cuh
// reads them. Returns the address behind them.
int64_t* write_place(int64_t* n, const Shape& shape, const Strides& strides);

}  // namespace gt::exec::cuda
