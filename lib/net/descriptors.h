// The descriptors that this process may open: what is short is told before
// something is begun, and connections for which there are none are refused.
//
// libzmq ends the process if a Unix socket that listens has a connection and
// there is no descriptor for it. So its accept4() is that of descriptors.cc,
// which closes such a connection at once; the other end tries again later.
#pragma once

#include <cstddef>

namespace gt::net {

// Raises the soft limit of open files to the hard one. Returns how many more
// descriptors can be opened, and no more than `most`.
size_t spare_descriptors(size_t most);

// Throws (base/shortage.h) unless so many more descriptors can be opened, the
// soft limit being raised: if one is missing, libzmq ends the process or waits
// for ever.
void need_descriptors(size_t count);

}  // namespace gt::net
