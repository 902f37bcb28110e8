// Makes kernels' texts and what launches carry.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/backend/cuda/plan.h"
#include "exec/backend/cuda/text/entries.cuh"
#include "exec/backend/view.h"

namespace gt::exec::cuda {

// A kernel whose body, over its Args `a`, is one statement in the words of the
// file text/HEADER. `declarations` come before it.
Source make_source(std::string_view header, std::string_view body,
                   std::string_view declarations = "");
// The same, of one that has Items, `items`, too.
Source make_items_source(std::string_view header, std::string_view body,
                         std::string_view declarations = "");

// The files of text/ by their names, and those that stand beside them: what
// texts include, apart from target.cuh, which is the compiler's part.
struct TextFile {
  const char* name;
  const char* text;
};
std::span<const TextFile> text_files();

// A dtype as texts name it.
std::string_view word_of(Dtype dtype);
// An unsigned integer of a dtype's size, for what only moves elements: ops of
// four dtypes then have one kernel.
std::string_view bits_of(Dtype dtype);
// "move<f32,f16>"
std::string instance(std::string_view name,
                     const std::vector<std::string_view>& arguments);

// Argument i as a source of elements: "In<f32>"; of a number "Literal<f64>".
// One that is absent is the number that scalar_slot() gives for it.
std::string source_of(const Call& call, size_t i);
Slot scalar_slot(const Call& call, size_t i, int64_t fallback);

// A launch of threads for n elements, and one of a block for each of n.
Launch each_launch(Source source, int64_t n);
Launch block_launch(Source source, int64_t n);

// Writes the lines where texts read them (text/entries.cuh).
void write_lines(Launch& launch, const Lines& lines);
// Writes a place as text/common.cuh reads it from n on; returns what is behind.
int64_t* write_place(int64_t* n, const Shape& shape, const Strides& strides);

}  // namespace gt::exec::cuda
