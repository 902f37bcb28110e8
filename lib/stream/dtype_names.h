// The names that PyTorch and NumPy have for dtypes. They are not words of the
// language; error messages suggest gt's name for them.
#pragma once

#include <optional>
#include <string_view>

#include "stream/type.h"

namespace gt {

// Returns the dtype that "float32", "torch.float32", "np.float32", "long" and
// so on stand for. Returns nothing for any other word, gt's own "f32" included.
std::optional<Dtype> dtype_elsewhere(std::string_view word);

}  // namespace gt
