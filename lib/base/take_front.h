// The front of a queue, taken off.
#pragma once

#include <deque>
#include <utility>

namespace gt {

// False: the queue is empty.
template <typename T>
bool take_front(std::deque<T>& queue, T& front) {
  if (queue.empty()) return false;
  front = std::move(queue.front());
  queue.pop_front();
  return true;
}

}  // namespace gt
